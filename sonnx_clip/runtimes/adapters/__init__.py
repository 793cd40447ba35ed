"""The runtimes that come with the project, one small file each: a `Runtime` called RUNTIME."""
