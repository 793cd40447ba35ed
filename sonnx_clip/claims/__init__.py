"""What is to be shown: claims, expanded from the templates in claims.yaml, and evaluated before proof."""
