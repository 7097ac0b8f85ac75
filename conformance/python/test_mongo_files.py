"""MongoDB: files of several chunks in GridFS."""

import io

import gridfs
import pytest

from conftest import files

CONTENT = bytes(range(256)) * 4000


def test_files(db, way, loop):
    bucket = files(way, loop, db)
    id = bucket.upload_from_stream("a.bin", CONTENT, chunk_size_bytes=100_000, metadata={"kind": "test"})
    assert db["fs.chunks"].count_documents({}) == 11
    back = io.BytesIO()
    bucket.download_to_stream(id, back)
    assert back.getvalue() == CONTENT
    assert [f.metadata for f in bucket.find({"filename": "a.bin"})] == [{"kind": "test"}]
    second = bucket.upload_from_stream("a.bin", b"second")
    assert bucket.open_download_stream_by_name("a.bin").read() == b"second"
    assert bucket.open_download_stream_by_name("a.bin", revision=0).read() == CONTENT
    bucket.rename(second, "b.bin")
    bucket.delete(id)
    with pytest.raises(gridfs.NoFile):
        bucket.open_download_stream(id)
    assert db["fs.chunks"].count_documents({}) == 1


def test_files_expire_whole(clocked_db, virtual, way, loop):
    """A TTL index on both collections takes the files and their chunks at the same second."""
    for name in ("fs.files", "fs.chunks"):
        clocked_db[name].create_index("_ts", expireAfterSeconds=10)
    bucket = files(way, loop, clocked_db)
    id = bucket.upload_from_stream("a.bin", CONTENT)
    virtual.advance(9)
    assert bucket.open_download_stream(id).read() == CONTENT
    virtual.advance(1)
    with pytest.raises(gridfs.NoFile):
        bucket.open_download_stream(id)
    assert clocked_db["fs.chunks"].count_documents({}) == 0
