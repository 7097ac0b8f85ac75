package mayfly;

import static mayfly.Cosmos.item;
import static mayfly.Cosmos.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.CosmosUserDefinedFunctionProperties;
import com.azure.cosmos.models.ExcludedPath;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Queries over several partitions and pages, in both gateway modes: mayfly answers
 * them itself, or leaves the merging to the SDK as the cloud's gateway does.
 */
class QueryTest {
    private static final int COUNT = 60;
    private static final List<String> CITIES = List.of("Lisboa", "Porto", "Sevilla", "Vigo");

    private static int price(int i) {
        return i * 37 % 50;
    }

    private static IntStream numbers() {
        return IntStream.range(0, COUNT);
    }

    private static CosmosContainer filled(Mayfly mayfly) {
        var policy = new IndexingPolicy();
        policy.setIncludedPaths(List.of(new IncludedPath("/*")));
        policy.setExcludedPaths(List.of(new ExcludedPath("/secret/?")));
        policy.setCompositeIndexes(List.of(List.of(new CompositePath().setPath("/city").setOrder(CompositePathSortOrder.ASCENDING),
                new CompositePath().setPath("/price").setOrder(CompositePathSortOrder.DESCENDING))));
        CosmosContainer c = Cosmos.newContainer(mayfly, p -> p.setIndexingPolicy(policy).setDefaultTimeToLiveInSeconds(-1));
        // Every tenth n is a text, every other seventh is not there.
        numbers().forEach(i -> c.createItem(item("{'id':'%d','pk':'k%d','city':'%s','i':%d,'price':%d,'tags':['t%d','t%d']%s}",
                i, i % 6, CITIES.get(i % 4), i, price(i), i % 3, i % 5,
                i % 10 == 0 ? ",'n':'text " + i % 20 + "'" : i % 7 == 0 ? "" : ",'n':" + i * 13 % 17)));
        return c;
    }

    @Nested
    class Serve extends Cases {
        private static final CosmosContainer FILLED = filled(Mayfly.EVERYDAY);

        Serve() {
            super(FILLED);
        }
    }

    @Nested
    class Strict extends Cases {
        private static final CosmosContainer FILLED = filled(Mayfly.STRICT);

        Strict() {
            super(FILLED);
        }
    }

    @Nested
    class FourRanges extends Cases {
        private static final CosmosContainer FILLED = filled(Mayfly.DIVIDED);

        FourRanges() {
            super(FILLED);
        }
    }

    abstract static class Cases {
        private final CosmosContainer c;

        Cases(CosmosContainer c) {
            this.c = c;
        }

        /** All rows, in pages of seven. */
        private <T> List<T> rows(SqlQuerySpec query, Class<T> type) {
            List<T> all = new ArrayList<>();
            for (FeedResponse<T> page : c.queryItems(query, new CosmosQueryRequestOptions(), type).iterableByPage(7)) {
                all.addAll(page.getResults());
            }
            return all;
        }

        private List<Integer> numbers(String query, SqlParameter... parameters) {
            return rows(new SqlQuerySpec(query, parameters), Integer.class);
        }

        private List<JsonNode> rows(String query) {
            return rows(new SqlQuerySpec(query), JsonNode.class);
        }

        private List<String> texts(String query) {
            return rows(new SqlQuerySpec(query), String.class);
        }

        private static List<Integer> range(int from, int to) {
            return IntStream.range(from, to).boxed().toList();
        }

        @Test
        void filterWithParameters() {
            assertEquals(QueryTest.numbers().filter(i -> price(i) >= 10 && price(i) < 30).boxed().toList(),
                    numbers("SELECT VALUE c.i FROM c WHERE c.price >= @low AND c.price < 30", new SqlParameter("@low", 10)).stream().sorted().toList());
        }

        @Test
        void orderBy() {
            assertEquals(range(0, COUNT), numbers("SELECT VALUE c.i FROM c ORDER BY c.i"));
            assertEquals(QueryTest.numbers().boxed().sorted(Comparator.comparing((Integer i) -> CITIES.get(i % 4)).thenComparing(i -> -price(i)))
                            .map(i -> CITIES.get(i % 4) + price(i)).toList(),
                    rows("SELECT c.city, c.price FROM c ORDER BY c.city ASC, c.price DESC").stream()
                            .map(row -> row.get("city").asText() + row.get("price")).toList());
            refused(400, () -> rows("SELECT * FROM c ORDER BY c.price, c.city"));
        }

        @Test
        void orderByKeepsEveryType() {
            List<JsonNode> got = rows("SELECT * FROM c ORDER BY c.n");
            List<Integer> ranks = got.stream().map(row -> !row.has("n") ? 0 : row.get("n").isNumber() ? 1 : 2).toList();
            assertEquals(ranks.stream().sorted().toList(), ranks);
            assertEquals(COUNT, new HashSet<>(Cosmos.ids(got)).size());
        }

        @Test
        void topOffsetLimit() {
            assertEquals(9, rows("SELECT TOP 9 c.id FROM c").size());
            assertEquals(range(0, 8), numbers("SELECT TOP @n VALUE c.i FROM c ORDER BY c.i", new SqlParameter("@n", 8)));
            assertEquals(range(11, 31), numbers("SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 11 LIMIT 20"));
            assertEquals(5, rows("SELECT c.id FROM c OFFSET 55 LIMIT 20").size());
        }

        @Test
        void distinct() {
            assertEquals(CITIES, texts("SELECT DISTINCT VALUE c.city FROM c").stream().sorted().toList());
            assertEquals(12, rows("SELECT DISTINCT c.city, c.pk FROM c").size());
            assertEquals(new ArrayList<>(new TreeSet<>(QueryTest.numbers().map(QueryTest::price).boxed().toList())),
                    numbers("SELECT DISTINCT VALUE c.price FROM c ORDER BY c.price"));
        }

        @Test
        void aggregates() {
            int sum = QueryTest.numbers().map(QueryTest::price).sum();
            assertEquals(List.of(COUNT), numbers("SELECT VALUE COUNT(1) FROM c"));
            assertEquals(List.of(52), numbers("SELECT VALUE COUNT(c.n) FROM c"));
            assertEquals(List.of((double) sum), rows(new SqlQuerySpec("SELECT VALUE SUM(c.price) FROM c"), Double.class)); // the SDK's sums are doubles
            assertEquals(List.of(0), numbers("SELECT VALUE MIN(c.price) FROM c"));
            assertEquals(List.of(59), numbers("SELECT VALUE MAX(c.i) FROM c"));
            assertEquals(List.of((double) sum / COUNT), rows(new SqlQuerySpec("SELECT VALUE AVG(c.price) FROM c"), Double.class));
            assertEquals(List.of(0), numbers("SELECT VALUE COUNT(1) FROM c WHERE c.i > 1000"));
        }

        @Test
        void groupBy() {
            List<JsonNode> got = new ArrayList<>(rows("SELECT c.city, COUNT(1) AS n, SUM(c.price) AS total, MIN(c.i) AS low, MAX(c.i) AS high FROM c GROUP BY c.city"));
            got.sort(Comparator.comparing(row -> row.get("city").asText()));
            assertEquals(4, got.size());
            for (int k = 0; k < 4; k++) {
                int city = k;
                int total = QueryTest.numbers().filter(i -> i % 4 == city).map(QueryTest::price).sum();
                assertEquals(item("{'city':'%s','n':15,'total':%d.0,'low':%d,'high':%d}", CITIES.get(k), total, k, 56 + k), item(got.get(k).toString()));
            }
            assertEquals(COUNT, rows("SELECT c.city, c.pk, COUNT(1) AS n FROM c GROUP BY c.city, c.pk").stream().mapToInt(row -> row.get("n").asInt()).sum());
        }

        @Test
        void joinAndSubqueries() {
            assertEquals(2 * COUNT, rows("SELECT c.id, t FROM c JOIN t IN c.tags").size());
            List<Integer> tagged = QueryTest.numbers().filter(i -> i % 5 == 4).boxed().toList();
            for (String where : List.of("ARRAY_CONTAINS(c.tags, 't4')", "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't4')")) {
                assertEquals(tagged, numbers("SELECT VALUE c.i FROM c WHERE " + where).stream().sorted().toList(), where);
            }
            assertEquals(List.of("Lisboa", "Porto", "Vigo"), texts("SELECT DISTINCT VALUE c.city FROM c WHERE c.city LIKE '%o%'").stream().sorted().toList());
        }

        @Test
        void eachPageByTheTokenOfTheOneBefore() {
            for (PartitionKey key : new PartitionKey[] {new PartitionKey("k2"), null}) {
                List<Integer> got = new ArrayList<>();
                String token = null;
                int pages = 0;
                do {
                    var options = new CosmosQueryRequestOptions();
                    if (key != null) {
                        options.setPartitionKey(key);
                    }
                    var page = c.queryItems("SELECT VALUE c.i FROM c ORDER BY c.i", options, Integer.class).iterableByPage(token, 4).iterator().next();
                    got.addAll(page.getResults());
                    token = page.getContinuationToken();
                    assertTrue(++pages < 100, "the query has no end");
                } while (token != null);
                assertEquals(key == null ? range(0, COUNT) : IntStream.range(0, 10).map(i -> 2 + 6 * i).boxed().toList(), got);
            }
        }

        @Test
        void feedRangesTogetherAreTheWhole() {
            List<Integer> got = new ArrayList<>();
            for (var range : c.getFeedRanges()) {
                c.queryItems("SELECT VALUE c.i FROM c", new CosmosQueryRequestOptions().setFeedRange(range), Integer.class).forEach(got::add);
            }
            assertEquals(range(0, COUNT), got.stream().sorted().toList());
        }

        @Test
        void metrics() {
            var options = new CosmosQueryRequestOptions().setPartitionKey(new PartitionKey("k1")).setQueryMetricsEnabled(true).setIndexMetricsEnabled(true);
            var page = c.queryItems("SELECT * FROM c WHERE c.city = 'Vigo' AND c.i > 5", options, JsonNode.class).iterableByPage().iterator().next();
            assertTrue(page.getRequestCharge() > 0);
            assertTrue(page.getCosmosDiagnostics().toString().contains("/city/?"), page.getCosmosDiagnostics().toString());
        }

        @Test
        void mistakeIsToldWithItsPlace() {
            assertTrue(refused(400, () -> rows("SELECT FORM c")).getMessage().contains("SC2001"));
        }

        @Test
        void userDefinedFunction() {
            c.getScripts().createUserDefinedFunction(new CosmosUserDefinedFunctionProperties("twice", "function (x) { return 2 * x; }"));
            assertEquals(List.of(42), numbers("SELECT VALUE udf.twice(c.i) FROM c WHERE c.i = 21"));
        }
    }
}
