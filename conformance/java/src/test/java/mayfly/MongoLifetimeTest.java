package mayfly;

import static mayfly.Mayfly.VIRTUAL;
import static mayfly.Mongo.document;
import static mayfly.Mongo.newCollection;
import static mayfly.Mongo.newDatabase;
import static mayfly.Mongo.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.types.Decimal128;
import org.junit.jupiter.api.Test;

/**
 * MongoDB: both kinds of TTL on a virtual clock: the stamp's, as the service's
 * articles show it, and MongoDB's own on dates.
 */
class MongoLifetimeTest {
    private static final long FOR_EVER = 1L << 40;

    /** The article's sample for Java. */
    private static String stampIndex(MongoCollection<Document> c, long seconds) {
        return c.createIndex(Indexes.ascending("_ts"), new IndexOptions().expireAfter(seconds, TimeUnit.SECONDS));
    }

    /** Every way of asking how many documents there are must say the same. */
    private static void wantAlive(String when, MongoCollection<Document> c, int want) {
        List<Long> all = List.of((long) c.find().into(new ArrayList<>()).size(), c.estimatedDocumentCount(), c.countDocuments(),
                c.countDocuments(Filters.exists("_id")), (long) c.distinct("_id", BsonValue.class).into(new ArrayList<>()).size());
        assertEquals(List.of((long) want, (long) want, (long) want, (long) want, (long) want), all, when);
    }

    /** createIndex({"_ts":1}, {expireAfterSeconds: 10}), and the metadata of its answer. */
    @Test
    void sampleOfTheIndex() {
        MongoDatabase db = newDatabase(VIRTUAL);
        Document reply = db.runCommand(document("{createIndexes: 'coll', indexes: [{key: {_ts: 1}, name: '_ts_1', expireAfterSeconds: 10}]}"));
        assertEquals("CreateIndexesResponse", reply.get("_t"));
        assertEquals(List.of(true, 1, 2), List.of(reply.get("createdCollectionAutomatically"), reply.get("numIndexesBefore"), reply.get("numIndexesAfter")));
        assertEquals("_ts_1", stampIndex(db.getCollection("coll"), 10));
    }

    @Test
    void sampleDocuments() {
        Map<Object, Long> lifetimes = new LinkedHashMap<>();
        for (Object ttl : List.of(20.0, 20, 20L)) { // the article's valid ones
            lifetimes.put(ttl, 20L);
        }
        for (Object ttl : List.of(20.5, 2147483649L)) { // and its invalid ones
            lifetimes.put(ttl, 10L);
        }
        for (Object ttl : List.of(-1, -1L, -1.0)) {
            lifetimes.put(ttl, FOR_EVER);
        }
        lifetimes.put(2147483647, 2147483647L);
        for (Object ttl : Arrays.asList(0, -2, "20", true, null, Double.NaN, Double.POSITIVE_INFINITY, -1.5, Decimal128.parse("20"),
                new Date(), document("{a: 20}"), List.of(20))) {
            lifetimes.put(ttl, 10L);
        }
        MongoCollection<Document> c = newDatabase(VIRTUAL).getCollection("coll");
        stampIndex(c, 10);
        lifetimes.keySet().forEach(ttl -> c.insertOne(new Document("id", 1).append("location", "Paris").append("ttl", ttl)));
        c.insertOne(document("{id: 1, nested: {ttl: 100}, TTL: 100}"));
        assertFalse(c.find().first().containsKey("_ts"));
        int now = 0;
        for (int second : new int[] {0, 9, 10, 19, 20, 100_000}) {
            VIRTUAL.advance(second - now);
            now = second;
            long want = lifetimes.values().stream().filter(l -> second < l).count() + (second < 10 ? 1 : 0);
            wantAlive("second " + second, c, (int) want);
        }
    }

    @Test
    void documentsThatWereThere() {
        MongoDatabase db = newDatabase(VIRTUAL);
        MongoCollection<Document> c = db.getCollection("c");
        c.insertMany(Mongo.documents("{_id: 'old'}", "{_id: 'touched'}"));
        VIRTUAL.advance(3600);
        c.updateOne(Filters.eq("touched"), Updates.set("a", 1));
        stampIndex(c, 10);
        wantAlive("with the index", c, 1);
        VIRTUAL.advance(9);
        c.updateOne(Filters.eq("touched"), Updates.set("a", 1)); // changes nothing, and starts anew
        VIRTUAL.advance(9);
        wantAlive("touched again", c, 1);

        Document changed = db.runCommand(document("{collMod: 'c', index: {keyPattern: {_ts: 1}, expireAfterSeconds: 100}}"));
        assertEquals(List.of(10L, 100L), List.of(((Number) changed.get("expireAfterSeconds_old")).longValue(), ((Number) changed.get("expireAfterSeconds_new")).longValue()));
        VIRTUAL.advance(90);
        wantAlive("longer", c, 1);
        c.dropIndex("_ts_1");
        VIRTUAL.advance(24 * 3600);
        wantAlive("off", c, 1);
    }

    @Test
    void indexOptions() {
        MongoDatabase db = newDatabase(VIRTUAL);
        for (String bad : List.of("0", "-2", "1.5", "2147483648", "'10'")) {
            refused(2, () -> db.runCommand(document("{createIndexes: 'c', indexes: [{key: {_ts: 1}, name: '_ts_1', expireAfterSeconds: " + bad + "}]}")));
        }
        MongoCollection<Document> c = db.getCollection("c");
        stampIndex(c, 10);
        stampIndex(c, 10);
        refused(85, () -> stampIndex(c, 20));
        refused(67, () -> c.createIndex(Indexes.ascending("a", "b"), new IndexOptions().expireAfter(10L, TimeUnit.SECONDS)));
    }

    @Test
    void expiredAreAbsentForWrites() {
        MongoCollection<Document> c = newCollection(VIRTUAL);
        stampIndex(c, 10);
        c.createIndex(Indexes.ascending("email"), new IndexOptions().unique(true));
        c.insertOne(document("{_id: 1, email: 'a@example.com'}"));
        refused(11000, () -> c.insertOne(document("{_id: 1, email: 'a@example.com'}")));
        VIRTUAL.advance(10);
        assertEquals(0, c.updateOne(Filters.eq(1), Updates.set("a", 1)).getMatchedCount());
        assertEquals(0, c.deleteOne(Filters.eq(1)).getDeletedCount());
        assertNull(c.findOneAndDelete(new Document()));
        c.insertOne(document("{_id: 2, email: 'a@example.com'}"));
        assertEquals(1, c.updateOne(Filters.eq(1), Updates.set("email", "b@example.com"), new UpdateOptions().upsert(true)).getUpsertedId().asInt32().getValue());
    }

    @Test
    void dates() {
        MongoDatabase db = newDatabase(VIRTUAL);
        MongoCollection<Document> c = db.getCollection("sessions");
        c.createIndex(Indexes.ascending("at"), new IndexOptions().expireAfter(60L, TimeUnit.SECONDS));
        long start = db.runCommand(document("{hello: 1}")).getDate("localTime").getTime(); // a virtual clock shows here
        c.insertMany(List.of(
                new Document("_id", "now").append("at", new Date(start)),
                new Document("_id", "later").append("at", new Date(start + 40_000)),
                new Document("_id", "earliest").append("at", List.of(new Date(start + 3_600_000), new Date(start + 20_000), "x")),
                new Document("_id", "no date").append("at", "yesterday"),
                new Document("_id", "none")));
        int now = 0;
        for (int[] step : new int[][] {{0, 5}, {59, 5}, {60, 4}, {79, 4}, {80, 3}, {99, 3}, {100, 2}, {10_000, 2}}) {
            VIRTUAL.advance(step[0] - now);
            now = step[0];
            wantAlive("second " + now, c, step[1]);
        }
    }

    /** defaultTtl is the index on _ts, whichever API set it. */
    @Test
    void onePolicyForBothApis() {
        MongoDatabase db = newDatabase(VIRTUAL);
        stampIndex(db.getCollection("made"), 10);
        db.getCollection("made").insertOne(document("{_id: 'x'}"));
        var container = Cosmos.client(VIRTUAL).getDatabase(db.getName()).getContainer("made");
        assertEquals(10, container.read().getProperties().getDefaultTimeToLiveInSeconds());
        VIRTUAL.advance(9);
        assertEquals(1, Cosmos.rows(container, "SELECT * FROM c", JsonNode.class).size());
        VIRTUAL.advance(1);
        assertEquals(0, Cosmos.rows(container, "SELECT * FROM c", JsonNode.class).size());
    }
}
