xtts-precompute info s3://bucket/cache
