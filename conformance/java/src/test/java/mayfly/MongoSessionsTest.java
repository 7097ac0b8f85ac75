package mayfly;

import static mayfly.Mayfly.EVERYDAY;
import static mayfly.Mayfly.VIRTUAL;
import static mayfly.Mongo.document;
import static mayfly.Mongo.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.OperationType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/** MongoDB: sessions, transactions, change streams. */
class MongoSessionsTest {
    private final MongoClient client = Mongo.client(EVERYDAY);
    private final MongoCollection<Document> c = Mongo.newCollection(EVERYDAY);

    @Test
    void commitAndAbort() {
        c.insertOne(document("{_id: 0}"));
        try (ClientSession session = client.startSession()) {
            session.startTransaction(TransactionOptions.builder().readConcern(ReadConcern.SNAPSHOT).build());
            c.insertOne(session, document("{_id: 1}"));
            assertNull(c.find(Filters.eq(1)).first());
            assertEquals(document("{_id: 1}"), c.find(session, Filters.eq(1)).first());
            session.commitTransaction();
            assertEquals(2, c.countDocuments());
            session.startTransaction();
            c.deleteMany(session, new Document());
            session.abortTransaction();
            assertEquals(2, c.countDocuments());
        }
    }

    @Test
    void twoTransactionsWriteOneDocument() {
        c.insertOne(document("{_id: 0}"));
        try (ClientSession one = client.startSession(); ClientSession other = client.startSession()) {
            one.startTransaction();
            c.updateOne(one, Filters.eq(0), Updates.set("x", 1));
            other.startTransaction();
            MongoException error = refused(112, () -> c.updateOne(other, Filters.eq(0), Updates.set("x", 2)));
            assertTrue(error.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL));
            other.abortTransaction();
            one.commitTransaction();
        }
        assertEquals(1, c.find().first().get("x"));
    }

    /** withTransaction repeats what another transaction was in the way of; no money is lost. */
    @Test
    void transactionsThatCollide() {
        IntStream.range(0, 4).forEach(i -> c.insertOne(new Document("_id", i).append("balance", 100)));
        CompletableFuture<?>[] workers = IntStream.range(0, 4).mapToObj(worker -> CompletableFuture.runAsync(() -> {
            try (ClientSession session = client.startSession()) {
                for (int i = 0; i < 10; i++) {
                    int from = (worker + i) % 4;
                    session.withTransaction(() -> {
                        c.updateOne(session, Filters.eq(from), Updates.inc("balance", -1));
                        return c.updateOne(session, Filters.eq((from + 1) % 4), Updates.inc("balance", 1));
                    });
                }
            }
        })).toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(workers).orTimeout(60, TimeUnit.SECONDS).join();
        assertEquals(400, c.aggregate(Mongo.stages("{$group: {_id: null, sum: {$sum: '$balance'}}}")).first().get("sum"));
    }

    @Test
    void aChangeStreamTellsAll() {
        c.insertOne(document("{_id: 0}"));
        List<ChangeStreamDocument<Document>> events = new ArrayList<>();
        try (var stream = c.watch().fullDocument(FullDocument.UPDATE_LOOKUP).cursor()) {
            c.insertOne(document("{_id: 1, a: 1}"));
            c.updateOne(Filters.eq(1), Updates.inc("a", 1));
            c.replaceOne(Filters.eq(1), document("{z: 1}"));
            c.deleteOne(Filters.eq(1));
            for (OperationType want : List.of(OperationType.INSERT, OperationType.UPDATE, OperationType.REPLACE, OperationType.DELETE)) {
                var event = stream.next();
                assertEquals(want, event.getOperationType());
                assertEquals(new BsonDocument("_id", new BsonInt32(1)), event.getDocumentKey());
                events.add(event);
            }
            assertEquals(document("{_id: 1, a: 1}"), events.get(0).getFullDocument());
            assertEquals(BsonDocument.parse("{a: 2}"), events.get(1).getUpdateDescription().getUpdatedFields());
            assertNull(stream.tryNext());
        }
        try (var resumed = c.watch(Mongo.stages("{$match: {operationType: 'delete'}}")).resumeAfter(events.get(1).getResumeToken()).cursor()) {
            assertEquals(OperationType.DELETE, resumed.next().getOperationType());
        }
        try (var later = c.watch().startAtOperationTime(events.get(3).getClusterTime()).cursor()) {
            assertEquals(OperationType.DELETE, later.next().getOperationType());
            c.drop();
            assertEquals(OperationType.DROP, later.next().getOperationType());
            assertEquals(OperationType.INVALIDATE, later.next().getOperationType());
        }
    }

    @Test
    void expiryIsADeleteInTheStream() {
        MongoCollection<Document> mortal = Mongo.newCollection(VIRTUAL);
        mortal.createIndex(Indexes.ascending("_ts"), new IndexOptions().expireAfter(10L, TimeUnit.SECONDS));
        try (var stream = mortal.watch().cursor()) {
            mortal.insertOne(document("{_id: 1}"));
            VIRTUAL.advance(11);
            assertEquals(OperationType.INSERT, stream.next().getOperationType());
            var event = stream.next();
            assertEquals(OperationType.DELETE, event.getOperationType());
            assertEquals(new BsonDocument("_id", new BsonInt32(1)), event.getDocumentKey());
        }
    }
}
