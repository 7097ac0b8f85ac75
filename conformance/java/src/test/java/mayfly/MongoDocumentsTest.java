package mayfly;

import static mayfly.Mayfly.EVERYDAY;
import static mayfly.Mongo.document;
import static mayfly.Mongo.documents;
import static mayfly.Mongo.newCollection;
import static mayfly.Mongo.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.ValidationOptions;
import com.mongodb.client.model.WriteModel;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.DocumentCodec;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.bson.types.Decimal128;
import org.bson.types.MaxKey;
import org.bson.types.MinKey;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.Test;

/** MongoDB: documents, bulk writes, cursors, types, indexes, collections. */
class MongoDocumentsTest {
    private static final Bson ALL = new Document();

    @Test
    void everyWrite() {
        MongoCollection<Document> c = newCollection(EVERYDAY);
        Object id = c.insertOne(document("{name: 'ann', age: 31, tags: ['a', 'b'], address: {city: 'Oslo'}}")).getInsertedId().asObjectId().getValue();
        assertEquals(document("{name: 'ann', tags: ['a']}"),
                c.find(Filters.eq("address.city", "Oslo")).projection(document("{_id: 0, name: 1, tags: {$slice: 1}}")).first());
        var updated = c.updateOne(Filters.eq(id), document("{$inc: {age: 1}, $addToSet: {tags: 'c'}, $currentDate: {seen: true}}"));
        assertEquals(List.of(1L, 1L), List.of(updated.getMatchedCount(), updated.getModifiedCount()));
        Document after = c.findOneAndUpdate(Filters.eq("name", "ann"), documents("{$set: {old: {$gt: ['$age', 30]}}}"),
                new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
        assertEquals(List.of(32, true, List.of("a", "b", "c")), List.of(after.get("age"), after.get("old"), after.get("tags")));
        assertEquals(7, c.replaceOne(Filters.eq(7), document("{name: 'bob'}"), new ReplaceOptions().upsert(true)).getUpsertedId().asInt32().getValue());
        assertEquals(2, c.countDocuments());
        assertEquals(2, c.estimatedDocumentCount());
        assertEquals(List.of("ann", "bob"), c.distinct("name", String.class).into(new ArrayList<>()));
        assertEquals("bob", c.findOneAndDelete(Filters.eq(7)).get("name"));
        assertEquals(1, c.deleteMany(ALL).getDeletedCount());
        c.insertOne(document("{_id: 1, grades: [80, 95, 100]}"));
        refused(11000, () -> c.insertOne(document("{_id: 1}")));
        c.updateOne(Filters.eq(1), document("{$inc: {'grades.$[high]': 1}}"), new UpdateOptions().arrayFilters(documents("{high: {$gte: 95}}")));
        assertEquals(document("{_id: 1, grades: [80, 96, 101]}"), c.find().first());
    }

    @Test
    void bulkWrite() {
        MongoCollection<Document> c = newCollection(EVERYDAY);
        c.insertMany(IntStream.range(0, 10).mapToObj(i -> new Document("_id", i).append("n", i)).toList());
        var result = c.bulkWrite(List.of(
                new InsertOneModel<>(document("{_id: 10}")),
                new UpdateManyModel<>(document("{n: {$gte: 5}}"), document("{$set: {big: true}}")),
                new UpdateOneModel<>(document("{_id: 'u'}"), document("{$set: {n: 1}}"), new UpdateOptions().upsert(true)),
                new ReplaceOneModel<>(document("{_id: 0}"), document("{z: 1}")),
                new DeleteManyModel<>(document("{n: {$in: [1, 2]}}"))));
        assertEquals(List.of(1, 6, 1, 3), List.of(result.getInsertedCount(), result.getModifiedCount(), result.getUpserts().size(), result.getDeletedCount()));
        for (boolean ordered : new boolean[] {true, false}) {
            c.deleteMany(document("{_id: {$regex: '^new'}}"));
            List<WriteModel<Document>> writes = IntStream.range(0, 5)
                    .<WriteModel<Document>>mapToObj(i -> new InsertOneModel<>(new Document("_id", i < 3 ? "new" + i : 5))).toList();
            var error = assertThrows(MongoBulkWriteException.class, () -> c.bulkWrite(writes, new BulkWriteOptions().ordered(ordered)));
            assertEquals(3, error.getWriteResult().getInsertedCount());
            assertEquals(ordered ? 1 : 2, error.getWriteErrors().size());
            assertEquals(11000, error.getWriteErrors().get(0).getCode());
        }
    }

    @Test
    void everyType() {
        MongoCollection<Document> c = newCollection(EVERYDAY);
        var document = new Document("_id", new ObjectId()).append("double", 1.5).append("whole", 3.0).append("text", "Grüße \u0000 漢字 😀")
                .append("object", document("{a: {b: {}}}")).append("array", List.of(1, List.of(2, List.of(3)), List.of()))
                .append("binary", new Binary((byte) 5, new byte[] {0, 1, -1})).append("yes", true).append("date", new Date(-1)).append("none", null)
                .append("int", -5).append("long", 9007199254740993L).append("stamp", new BsonTimestamp(5, 6))
                .append("decimal", Decimal128.parse("-1.2340E+10")).append("infinite", Double.NEGATIVE_INFINITY).append("low", new MinKey()).append("high", new MaxKey());
        c.insertOne(document);
        assertEquals(document, c.find().first());
        var sent = new RawBsonDocument(document, new DocumentCodec());
        var got = c.withDocumentClass(RawBsonDocument.class).find().first();
        byte[] a = new byte[sent.getByteBuffer().remaining()];
        byte[] b = new byte[got.getByteBuffer().remaining()];
        sent.getByteBuffer().get(a);
        got.getByteBuffer().get(b);
        assertArrayEquals(a, b);
    }

    @Test
    void cursors() {
        MongoCollection<Document> c = newCollection(EVERYDAY);
        c.insertMany(IntStream.range(0, 1000).mapToObj(i -> new Document("_id", i).append("n", i % 10)).toList());
        List<Integer> got = c.find().sort(Sorts.descending("_id")).batchSize(37).map(d -> d.getInteger("_id")).into(new ArrayList<>());
        assertEquals(IntStream.range(0, 1000).map(i -> 999 - i).boxed().toList(), got);
        assertEquals(List.of(23, 33, 43), c.find(Filters.eq("n", 3)).sort(Sorts.ascending("_id")).skip(2).limit(3).map(d -> d.getInteger("_id")).into(new ArrayList<>()));
        try (var cursor = c.find().batchSize(2).cursor()) {
            cursor.next();
        }
    }

    @Test
    void indexes() {
        MongoCollection<Document> c = newCollection(EVERYDAY);
        assertEquals("a_1_b_-1", c.createIndex(Indexes.compoundIndex(Indexes.ascending("a"), Indexes.descending("b"))));
        c.createIndex(Indexes.ascending("email"), new IndexOptions().unique(true).sparse(true));
        c.createIndex(Indexes.ascending("part"), new IndexOptions().partialFilterExpression(document("{n: {$gt: 5}}")).name("half"));
        assertEquals(List.of("_id_", "a_1_b_-1", "email_1", "half"), c.listIndexes().map(i -> i.getString("name")).into(new ArrayList<>()));
        c.insertMany(documents("{email: 'a'}", "{n: 1}", "{n: 2}"));
        refused(11000, () -> c.insertOne(document("{email: 'a'}")));
        assertTrue(c.find(document("{a: 5, b: {$gt: 1}}")).explain().toJson().contains("a_1_b_-1"));
        c.dropIndex("half");
        refused(27, () -> c.dropIndex("half"));
        c.dropIndexes();
        assertEquals(1, c.listIndexes().into(new ArrayList<>()).size());
    }

    @Test
    void collections() {
        var db = Mongo.newDatabase(EVERYDAY);
        db.createCollection("valid", new CreateCollectionOptions().validationOptions(
                new ValidationOptions().validator(document("{$jsonSchema: {required: ['n'], properties: {n: {bsonType: 'int'}}}}"))));
        refused(121, () -> db.getCollection("valid").insertOne(document("{n: 'text'}")));
        db.getCollection("valid").insertOne(document("{n: 1}"));
        refused(48, () -> db.createCollection("valid"));
        db.createView("seen", "valid", documents("{$project: {_id: 0, m: '$n'}}"));
        assertEquals(documents("{m: 1}"), db.getCollection("seen").find().into(new ArrayList<>()));
        assertTrue(db.listCollectionNames().into(new ArrayList<>()).containsAll(List.of("seen", "valid")));
        db.drop();
        assertEquals(List.of(), db.listCollectionNames().into(new ArrayList<>()));
        refused(59, () -> db.runCommand(document("{noSuchCommand: 1}")));
    }
}
