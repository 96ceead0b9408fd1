"""S3 kept in files: an object of the API is the file that `file://` names, and a job's file is an object."""

from bandstand.service.store.buckets import Bucket, Buckets

__all__ = ["Bucket", "Buckets"]
