"""What has to be shown: obligations, and which of them a finding needs."""
