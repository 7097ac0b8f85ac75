package mayfly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.function.Executable;

/** Clients of the MongoDB API, and what tests make with them. */
final class Mongo {
    private static final Map<Mayfly, MongoClient> CLIENTS = new ConcurrentHashMap<>();

    private Mongo() { }

    static MongoClient client(Mayfly mayfly) {
        return CLIENTS.computeIfAbsent(mayfly, m -> MongoClients.create(m.mongo));
    }

    /** A database of the test's own. */
    static MongoDatabase newDatabase(Mayfly mayfly) {
        return client(mayfly).getDatabase(Cosmos.newName());
    }

    static MongoCollection<Document> newCollection(Mayfly mayfly) {
        return newDatabase(mayfly).getCollection("c");
    }

    /** A document from JSON, in which ' may stand for ". */
    static Document document(String json) {
        return Document.parse(json);
    }

    static List<Document> documents(String... json) {
        return Arrays.stream(json).map(Document::parse).toList();
    }

    static List<BsonDocument> stages(String... json) {
        return Arrays.stream(json).map(BsonDocument::parse).toList();
    }

    /** The error with which the server must refuse, and its code. */
    static MongoException refused(int code, Executable call) {
        var error = assertThrows(MongoException.class, call);
        assertEquals(code, error.getCode(), error::getMessage);
        return error;
    }
}
