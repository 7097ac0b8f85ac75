package mayfly;

import static mayfly.Cosmos.P;
import static mayfly.Cosmos.item;
import static mayfly.Cosmos.newContainer;
import static mayfly.Cosmos.newDatabase;
import static mayfly.Cosmos.refused;
import static mayfly.Cosmos.words;
import static mayfly.Mayfly.VIRTUAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.IndexingMode;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TTL on a virtual clock: the nine cells, changes of the policy, every value, and the expired as absent. No test waits. */
class LifetimeTest {
    private static final CosmosItemRequestOptions NONE = new CosmosItemRequestOptions();
    private static final Integer OFF = null;

    private static CosmosContainer lives(Integer ttl) {
        return newContainer(VIRTUAL, p -> p.setDefaultTimeToLiveInSeconds(ttl));
    }

    private static void setPolicy(CosmosContainer c, Integer ttl) {
        c.replace(c.read().getProperties().setDefaultTimeToLiveInSeconds(ttl));
    }

    private static boolean exists(CosmosContainer c, String id) {
        try {
            return c.readItem(id, P, JsonNode.class).getStatusCode() == 200;
        } catch (CosmosException e) {
            assertEquals(404, e.getStatusCode());
            return false;
        }
    }

    private static List<String> sorted(Iterable<JsonNode> items) {
        return StreamSupport.stream(items.spliterator(), false).map(i -> i.get("id").asText()).sorted().toList();
    }

    /** Requires that of all ids those in want exist, and no other. Every way of reading must say the same. */
    private static void wantLiving(String when, CosmosContainer c, List<String> all, List<String> want) {
        List<String> living = want.stream().sorted().toList();
        assertEquals(living, all.stream().filter(id -> exists(c, id)).sorted().toList(), when);
        assertEquals(living, sorted(c.readAllItems(P, JsonNode.class)), when + ", the partition");
        assertEquals(living, sorted(Cosmos.rows(c, "SELECT * FROM c", JsonNode.class)), when + ", a query");
        assertEquals(living, sorted(c.queryChangeFeed(CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange()), JsonNode.class)),
                when + ", the change feed");
        assertEquals(living, sorted(c.readMany(all.stream().map(id -> new CosmosItemIdentity(P, id)).toList(), JsonNode.class).getResults()), when + ", read many");
        assertEquals(List.of(living.size()), Cosmos.rows(c, "SELECT VALUE COUNT(1) FROM c", Integer.class), when + ", a count");
    }

    /** The nine cells at one second before, at and after each deadline, and a day later. */
    @Test
    void matrix() {
        var ttls = Map.of("none", "", "never", ",'ttl':-1", "short", ",'ttl':5", "long", ",'ttl':20");
        List<Integer> defaults = new ArrayList<>(List.of(-1, 10));
        defaults.add(OFF);
        List<Map<String, Integer>> deadlines = List.of(Map.of("short", 5, "long", 20), Map.of("none", 10, "short", 5, "long", 20), Map.of());
        List<CosmosContainer> containers = defaults.stream().map(LifetimeTest::lives).toList();
        for (CosmosContainer c : containers) {
            ttls.forEach((id, ttl) -> assertEquals(!ttl.isEmpty(), c.createItem(item("{'id':'%s','pk':'p'%s}", id, ttl)).getItem().has("ttl")));
        }
        int now = 0;
        for (int second : new int[] {0, 4, 5, 6, 9, 10, 11, 19, 20, 21, 86400}) {
            VIRTUAL.advance(second - now);
            now = second;
            for (int k = 0; k < defaults.size(); k++) {
                Map<String, Integer> ends = deadlines.get(k);
                var want = ttls.keySet().stream().filter(id -> !ends.containsKey(id) || second < ends.get(id)).toList();
                wantLiving("default " + defaults.get(k) + ", second " + second, containers.get(k), List.copyOf(ttls.keySet()), want);
            }
        }
    }

    /** At a second: the policy that is set, or KEEP, and who lives then. */
    private record Step(int second, Integer policy, String want) {
        static final Integer KEEP = Integer.MIN_VALUE;
    }

    private record Story(String name, Integer first, Step... steps) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Step at(int second, Integer policy, String want) {
        return new Step(second, policy, want);
    }

    private static Step at(int second, String want) {
        return new Step(second, Step.KEEP, want);
    }

    static Stream<Story> stories() {
        return Stream.of(
                new Story("off to n expires the overdue at once", OFF, at(20, 10, "never own"), at(29, "never own"), at(30, "never")),
                new Story("off to n brings dormant overrides into force", OFF, at(40, 100, "never plain"), at(100, "never")),
                new Story("off to -1 expires only overdue overrides", OFF, at(40, -1, "never plain"), at(4000, "never plain")),
                new Story("shorter expires more at once", 100, at(20, "never own plain"), at(20, 10, "never own")),
                new Story("longer lets the living live on", 10, at(9, 20, "never own plain"), at(19, "never own plain"), at(20, "never own")),
                new Story("longer brings nobody back", 10, at(10, 1000, "never own"), at(30, "never")),
                new Story("n to -1 stops the inheriting only", 10, at(9, -1, "never own plain"), at(29, "never own plain"), at(30, "never plain")),
                new Story("n to -1 brings nobody back", 10, at(10, -1, "never own")),
                new Story("off stops everything", 10, at(9, OFF, "never own plain"), at(4000, "never own plain")),
                new Story("off brings nobody back", 10, at(30, OFF, "never"), at(31, "never")),
                new Story("off and on again counts from _ts", 10, at(5, OFF, "never own plain"), at(50, "never own plain"),
                        at(50, 60, "never plain"), at(59, "never plain"), at(60, "never")),
                new Story("off and on without a default", 10, at(5, OFF, "never own plain"), at(29, -1, "never own plain"), at(30, "never plain")));
    }

    @ParameterizedTest
    @MethodSource("stories")
    void policyChanges(Story story) {
        CosmosContainer c = lives(story.first);
        c.createItem(item("{'id':'plain','pk':'p'}"));
        c.createItem(item("{'id':'own','pk':'p','ttl':30}"));
        c.createItem(item("{'id':'never','pk':'p','ttl':-1}"));
        int now = 0;
        for (Step step : story.steps) {
            VIRTUAL.advance(step.second - now);
            now = step.second;
            if (!Step.KEEP.equals(step.policy)) {
                setPolicy(c, step.policy);
            }
            wantLiving(step.toString(), c, List.of("plain", "own", "never"), words(step.want));
        }
    }

    @Test
    void indexingNoneAndTtlExcludeEachOther() {
        CosmosDatabase database = newDatabase(VIRTUAL);
        var none = new IndexingPolicy().setIndexingMode(IndexingMode.NONE).setAutomatic(false);
        refused(400, () -> database.createContainer(new CosmosContainerProperties("a", "/pk").setIndexingPolicy(none).setDefaultTimeToLiveInSeconds(10)));
        database.createContainer(new CosmosContainerProperties("b", "/pk").setIndexingPolicy(none));
        refused(400, () -> setPolicy(database.getContainer("b"), 10));
        database.createContainer(new CosmosContainerProperties("c", "/pk").setDefaultTimeToLiveInSeconds(10));
        CosmosContainer c = database.getContainer("c");
        refused(400, () -> c.replace(c.read().getProperties().setIndexingPolicy(none)));
    }

    private static final String REMEDY =
            "Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.";

    /** The SDK has int for the default: fractions, texts and larger numbers cannot be said. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 2147483647})
    void goodDefaults(int ttl) {
        assertEquals(ttl, lives(ttl).read().getProperties().getDefaultTimeToLiveInSeconds());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -2, -10, -2147483648})
    void badDefaults(int ttl) {
        assertTrue(refused(400, () -> lives(ttl)).getMessage().contains("The input defaultTtl '" + ttl + "' is invalid. " + REMEDY));
        CosmosContainer c = lives(7);
        refused(400, () -> setPolicy(c, ttl));
        assertEquals(7, c.read().getProperties().getDefaultTimeToLiveInSeconds());
    }

    private static final List<String> GOOD = List.of("-1", "1", "2147483647", "20.0", "2e1");
    private static final List<String> BAD = List.of("null", "0", "-2", "-10", "2147483648", "20.5", "'20'", "true", "{}", "[]");

    private interface Write {
        void to(CosmosContainer c, String ttl);
    }

    private static Map<String, Write> writes() {
        Map<String, Write> ways = new LinkedHashMap<>();
        ways.put("create", (c, ttl) -> c.createItem(item("{'id':'new','pk':'p','ttl':%s}", ttl)));
        ways.put("upsert", (c, ttl) -> c.upsertItem(item("{'id':'x','pk':'p','ttl':%s}", ttl)));
        ways.put("replace", (c, ttl) -> c.replaceItem(item("{'id':'x','pk':'p','ttl':%s}", ttl), "x", P, NONE));
        ways.put("patch set", (c, ttl) -> c.patchItem("x", P, CosmosPatchOperations.create().set("/ttl", item("{'v':%s}", ttl).get("v")), JsonNode.class));
        ways.put("patch add", (c, ttl) -> c.patchItem("x", P, CosmosPatchOperations.create().add("/ttl", item("{'v':%s}", ttl).get("v")), JsonNode.class));
        return ways;
    }

    @Test
    void itemValues() {
        writes().forEach((way, write) -> {
            for (String ttl : GOOD) {
                CosmosContainer c = lives(10);
                c.createItem(item("{'id':'x','pk':'p'}"));
                write.to(c, ttl);
            }
            CosmosContainer c = lives(10);
            String kept = c.createItem(item("{'id':'x','pk':'p'}")).getETag();
            for (String ttl : BAD) {
                String message = refused(400, () -> write.to(c, ttl)).getMessage();
                assertTrue(message.contains("The input ttl '") && message.contains(REMEDY), () -> way + " " + ttl + ": " + message);
                assertEquals(kept, c.readItem("x", P, JsonNode.class).getETag(), way + " " + ttl);
            }
        });
    }

    @Test
    void patchOfTtl() {
        CosmosContainer c = lives(10);
        c.createItem(item("{'id':'x','pk':'p','ttl':5}"));
        refused(400, () -> c.patchItem("x", P, CosmosPatchOperations.create().increment("/ttl", -5), JsonNode.class));
        VIRTUAL.advance(4);
        c.patchItem("x", P, CosmosPatchOperations.create().remove("/ttl"), JsonNode.class);
        VIRTUAL.advance(9);
        wantLiving("9 s after the patch", c, List.of("x"), List.of("x"));
        VIRTUAL.advance(1);
        wantLiving("10 s after the patch", c, List.of("x"), List.of());
    }

    /** While TTL is off the ttl of an item is not looked at; a bad one that is there when TTL comes on counts as absent. */
    @Test
    void dormantValues() {
        CosmosContainer c = lives(OFF);
        List<String> ids = new ArrayList<>();
        for (String ttl : Stream.concat(BAD.stream(), Stream.of("2147483647", "-1", "3")).toList()) {
            ids.add("i" + ids.size());
            c.createItem(item("{'id':'%s','pk':'p','ttl':%s}", ids.get(ids.size() - 1), ttl));
        }
        VIRTUAL.advance(5);
        wantLiving("off", c, ids, ids);
        setPolicy(c, 10);
        List<String> good = ids.subList(0, ids.size() - 1); // the last has 3 s, which are over
        wantLiving("on, second 5", c, ids, good);
        VIRTUAL.advance(5);
        wantLiving("on, second 10", c, ids, good.subList(BAD.size(), good.size()));
    }

    /** Any successful write does; reads and failures do not. */
    @Test
    void writesRestartTheCountdown() {
        CosmosContainer c = lives(10);
        Map<String, Runnable> moves = new LinkedHashMap<>();
        moves.put("replace", () -> c.replaceItem(item("{'id':'replace','pk':'p'}"), "replace", P, NONE));
        moves.put("upsert", () -> c.upsertItem(item("{'id':'upsert','pk':'p'}")));
        moves.put("patch", () -> c.patchItem("patch", P, CosmosPatchOperations.create().set("/same", 1), JsonNode.class));
        moves.put("batch", () -> {
            CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
            batch.upsertItemOperation(item("{'id':'batch','pk':'p'}"));
            assertTrue(c.executeCosmosBatch(batch).isSuccessStatusCode());
        });
        Map<String, Runnable> stays = new LinkedHashMap<>();
        stays.put("nothing", () -> { });
        stays.put("read", () -> c.readItem("read", P, JsonNode.class));
        stays.put("guard", () -> refused(412, () -> c.upsertItem(item("{'id':'guard','pk':'p'}"), P, new CosmosItemRequestOptions().setIfMatchETag("\"stale\""))));
        stays.put("failed", () -> {
            CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
            batch.upsertItemOperation(item("{'id':'failed','pk':'p'}"));
            batch.readItemOperation("absent");
            assertEquals(404, c.executeCosmosBatch(batch).getStatusCode());
        });
        List<String> all = Stream.concat(moves.keySet().stream(), stays.keySet().stream()).toList();
        all.forEach(id -> c.createItem(item("{'id':'%s','pk':'p','same':1}", id)));
        VIRTUAL.advance(9);
        moves.values().forEach(Runnable::run);
        stays.values().forEach(Runnable::run);
        wantLiving("second 9", c, all, all);
        VIRTUAL.advance(1);
        wantLiving("second 10", c, all, List.copyOf(moves.keySet()));
        VIRTUAL.advance(9);
        wantLiving("second 19", c, all, List.of());
    }

    private interface Operation {
        int on(CosmosContainer c, String etag);
    }

    private static int batch(CosmosContainer c, Consumer<CosmosBatch> fill) {
        CosmosBatch batch = CosmosBatch.createCosmosBatch(P);
        fill.accept(batch);
        return c.executeCosmosBatch(batch).getStatusCode();
    }

    @Test
    void expiredIsAbsent() {
        var x = item("{'id':'x','pk':'p'}");
        var never = CosmosPatchOperations.create().set("/ttl", -1);
        Map<String, Operation> operations = new LinkedHashMap<>();
        operations.put("404 read", (c, etag) -> c.readItem("x", P, JsonNode.class).getStatusCode());
        operations.put("404 read if changed", (c, etag) -> c.readItem("x", P, new CosmosItemRequestOptions().setIfNoneMatchETag(etag), JsonNode.class).getStatusCode());
        operations.put("201 create", (c, etag) -> c.createItem(x).getStatusCode());
        operations.put("201 create another with its unique key", (c, etag) -> c.createItem(item("{'id':'y','pk':'p','email':'taken'}")).getStatusCode());
        operations.put("201 upsert", (c, etag) -> c.upsertItem(x).getStatusCode());
        operations.put("201 upsert with its ETag", (c, etag) -> c.upsertItem(x, P, new CosmosItemRequestOptions().setIfMatchETag(etag)).getStatusCode());
        operations.put("404 replace", (c, etag) -> c.replaceItem(x, "x", P, NONE).getStatusCode());
        operations.put("404 replace with its ETag", (c, etag) -> c.replaceItem(x, "x", P, new CosmosItemRequestOptions().setIfMatchETag(etag)).getStatusCode());
        operations.put("404 patch", (c, etag) -> c.patchItem("x", P, never, JsonNode.class).getStatusCode());
        operations.put("404 patch with a condition", (c, etag) -> c.patchItem("x", P, never,
                new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.email = 'taken'"), JsonNode.class).getStatusCode());
        operations.put("404 delete", (c, etag) -> c.deleteItem("x", P, NONE).getStatusCode());
        operations.put("404 read in a batch", (c, etag) -> batch(c, b -> {
            b.readItemOperation("x");
            b.createItemOperation(item("{'id':'z','pk':'p'}"));
        }));
        operations.put("200 create in a batch", (c, etag) -> batch(c, b -> b.createItemOperation(item("{'id':'x','pk':'p','email':'taken'}"))));
        operations.forEach((name, operation) -> {
            CosmosContainer c = newContainer(VIRTUAL, p -> p.setDefaultTimeToLiveInSeconds(10)
                    .setUniqueKeyPolicy(new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/email"))))));
            JsonNode old = c.createItem(item("{'id':'x','pk':'p','email':'taken'}")).getItem();
            VIRTUAL.advance(10);
            int status;
            try {
                status = operation.on(c, old.get("_etag").asText());
            } catch (CosmosException e) {
                status = e.getStatusCode();
            }
            assertEquals(name.substring(0, 3), "" + status, name);
            for (JsonNode now : Cosmos.rows(c, "SELECT * FROM c", JsonNode.class)) {
                assertNotEquals(old.get("_rid"), now.get("_rid"), name);
                assertNotEquals(old.get("_etag"), now.get("_etag"), name);
            }
        });
    }

    @Test
    void queriesLeaveTheExpiredOutFirst() {
        CosmosContainer c = lives(10);
        IntStream.range(0, 20).forEach(i -> c.createItem(item("{'id':'%d','pk':'p','i':%d,'half':%d%s}", i, i, i % 2, i % 2 == 1 ? ",'ttl':-1" : "")));
        VIRTUAL.advance(10);
        List<Integer> odd = IntStream.range(0, 10).map(i -> 2 * i + 1).boxed().toList();
        assertEquals(odd, Cosmos.rows(c, "SELECT VALUE c.i FROM c ORDER BY c.i", Integer.class));
        assertEquals(List.of(100.0), Cosmos.rows(c, "SELECT VALUE SUM(c.i) FROM c", Double.class));
        assertEquals(List.of(1), Cosmos.rows(c, "SELECT VALUE MIN(c.i) FROM c", Integer.class));
        assertEquals(odd.subList(0, 3), Cosmos.rows(c, "SELECT TOP 3 VALUE c.i FROM c ORDER BY c.i", Integer.class));
        assertEquals(odd.subList(2, 5), Cosmos.rows(c, "SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 2 LIMIT 3", Integer.class));
        assertEquals(List.of(1), Cosmos.rows(c, "SELECT DISTINCT VALUE c.half FROM c", Integer.class));
        assertEquals(10, Cosmos.rows(c, "SELECT c.half, COUNT(1) AS n FROM c GROUP BY c.half", JsonNode.class).get(0).get("n").asInt());
    }

    /** What ends between two pages is not on the second, whose token stays good. */
    @Test
    void betweenTwoPages() {
        CosmosContainer c = lives(-1);
        IntStream.range(0, 10).forEach(i -> c.createItem(item("{'id':'%d','pk':'p','i':%d%s}", i, i, i == 1 || i == 7 ? ",'ttl':10" : "")));
        var options = new CosmosQueryRequestOptions().setPartitionKey(P);
        String query = "SELECT VALUE c.i FROM c ORDER BY c.i";
        var first = c.queryItems(query, options, Integer.class).iterableByPage(5).iterator().next();
        assertEquals(List.of(0, 1, 2, 3, 4), first.getResults());
        VIRTUAL.advance(10);
        var second = c.queryItems(query, options, Integer.class).iterableByPage(first.getContinuationToken(), 5).iterator().next();
        assertEquals(List.of(5, 6, 8, 9), second.getResults());
    }

    @Test
    void analyticalTtlStandsBeside() {
        CosmosContainer c = newContainer(VIRTUAL, p -> p.setDefaultTimeToLiveInSeconds(10).setAnalyticalStoreTimeToLiveInSeconds(100));
        assertEquals(100, c.read().getProperties().getAnalyticalStoreTimeToLiveInSeconds());
        assertEquals(10, c.read().getProperties().getDefaultTimeToLiveInSeconds());
    }
}
