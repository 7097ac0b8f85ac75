package mayfly;

import static mayfly.Mayfly.EVERYDAY;
import static mayfly.Mongo.document;
import static mayfly.Mongo.documents;
import static mayfly.Mongo.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.MongoDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MongoDB: aggregation. */
class MongoAggregationTest {
    private final MongoDatabase db = Mongo.newDatabase(EVERYDAY);

    @BeforeEach
    void fill() {
        db.getCollection("sales").insertMany(IntStream.range(0, 12).mapToObj(i -> document(String.format(
                "{_id: %d, city: '%s', price: %d, items: [{sku: 's%d', n: %d}, {sku: 'all', n: 1}]}",
                i, List.of("Lisboa", "Porto", "Sevilla").get(i % 3), i * 10, i % 4, i))).toList());
        db.getCollection("cities").insertMany(documents("{_id: 'Lisboa', country: 'pt'}", "{_id: 'Porto', country: 'pt'}", "{_id: 'Sevilla', country: 'es'}"));
    }

    private List<Document> run(String... stages) {
        return db.getCollection("sales").aggregate(Mongo.stages(stages)).into(new ArrayList<>());
    }

    @Test
    void groups() {
        assertEquals(documents("{_id: 'Lisboa', n: 4, total: 180, ids: [0, 3, 6, 9]}", "{_id: 'Porto', n: 4, total: 220, ids: [1, 4, 7, 10]}",
                        "{_id: 'Sevilla', n: 4, total: 260, ids: [2, 5, 8, 11]}"),
                run("{$group: {_id: '$city', n: {$sum: 1}, total: {$sum: '$price'}, ids: {$push: '$_id'}}}", "{$sort: {_id: 1}}"));
    }

    @Test
    void unwindAndLookup() {
        assertEquals(documents("{_id: 'es', n: 26}", "{_id: 'pt', n: 40}"), run("{$unwind: '$items'}", "{$match: {'items.sku': {$ne: 'all'}}}",
                "{$lookup: {from: 'cities', localField: 'city', foreignField: '_id', as: 'where'}}",
                "{$group: {_id: {$first: '$where.country'}, n: {$sum: '$items.n'}}}", "{$sort: {_id: 1}}"));
    }

    @Test
    void facetsAndWindows() {
        assertEquals(documents("{buckets: [{_id: 0, n: 5}, {_id: 50, n: 7}], top: [{_id: 'Lisboa', count: 4}]}"),
                run("{$facet: {buckets: [{$bucket: {groupBy: '$price', boundaries: [0, 50, 200], output: {n: {$sum: 1}}}}], "
                        + "top: [{$sortByCount: '$city'}, {$sort: {_id: 1}}, {$limit: 1}]}}"));
        assertEquals(List.of(10, 50, 120, 220), run("{$setWindowFields: {partitionBy: '$city', sortBy: {_id: 1}, output: {running: "
                + "{$sum: '$price', window: {documents: ['unbounded', 'current']}}}}}", "{$match: {city: 'Porto'}}", "{$sort: {_id: 1}}")
                .stream().map(d -> d.getInteger("running")).toList());
    }

    @Test
    void outAndMerge() {
        db.getCollection("sales").aggregate(Mongo.stages("{$match: {city: 'Porto'}}", "{$out: 'porto'}")).toCollection();
        assertEquals(4, db.getCollection("porto").countDocuments());
        db.getCollection("sales").aggregate(Mongo.stages("{$project: {city: 1}}", "{$merge: {into: 'porto', whenMatched: 'merge'}}")).toCollection();
        assertEquals(12, db.getCollection("porto").countDocuments());
        refused(40324, () -> run("{$noSuch: {}}"));
    }
}
