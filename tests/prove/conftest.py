from tests.prove.fixtures import bench, real_bench

__all__ = ["bench", "real_bench"]
