package mayfly;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.MongoGridFSException;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBuckets;
import com.mongodb.client.gridfs.model.GridFSUploadOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.Random;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/** MongoDB: files of several chunks in GridFS. */
class MongoFilesTest {
    @Test
    void files() {
        MongoDatabase db = Mongo.newDatabase(Mayfly.EVERYDAY);
        var bucket = GridFSBuckets.create(db);
        byte[] content = new byte[1_024_000];
        new Random(1).nextBytes(content);
        var id = bucket.uploadFromStream("a.bin", new ByteArrayInputStream(content),
                new GridFSUploadOptions().chunkSizeBytes(100_000).metadata(new Document("kind", "test")));
        assertEquals(11, db.getCollection("fs.chunks").countDocuments());
        var back = new ByteArrayOutputStream();
        bucket.downloadToStream(id, back);
        assertArrayEquals(content, back.toByteArray());
        assertEquals("test", bucket.find().first().getMetadata().get("kind"));
        bucket.rename(id, "b.bin");
        bucket.delete(id);
        assertThrows(MongoGridFSException.class, () -> bucket.downloadToStream("b.bin", back));
        assertEquals(0, db.getCollection("fs.chunks").countDocuments());
    }
}
