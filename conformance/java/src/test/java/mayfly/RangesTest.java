package mayfly;

import static mayfly.Cosmos.item;
import static mayfly.Mayfly.DIVIDED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A container with four ranges of partition keys: what the SDK sends to each of them. Queries are in QueryTest. */
class RangesTest {
    private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();
    private static CosmosContainer c;

    @BeforeAll
    static void fill() {
        c = Cosmos.newContainer(DIVIDED);
        NUMBERS.forEach(n -> c.createItem(numbered(n)));
    }

    private static JsonNode numbered(int n) {
        return item("{'id':'%d','pk':'key %d','n':%d}", n, n, n);
    }

    private static PartitionKey key(int n) {
        return new PartitionKey("key " + n);
    }

    private static List<Integer> numbersOf(Iterable<JsonNode> items) {
        List<Integer> numbers = new ArrayList<>();
        items.forEach(i -> numbers.add(i.get("n").asInt()));
        return numbers;
    }

    private record Changes(List<Integer> numbers, String token) { }

    private static Changes changes(CosmosChangeFeedRequestOptions options) {
        List<Integer> numbers = new ArrayList<>();
        String token = null;
        for (var page : c.queryChangeFeed(options.setMaxItemCount(3), JsonNode.class).iterableByPage()) {
            numbers.addAll(numbersOf(page.getResults()));
            token = page.getContinuationToken();
        }
        return new Changes(numbers, token);
    }

    private static Changes from(FeedRange range) {
        return changes(CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(range));
    }

    private static List<Integer> sorted(List<Integer> numbers) {
        return numbers.stream().sorted().toList();
    }

    @Test
    void changeFeedOfEachRange() {
        List<FeedRange> ranges = c.getFeedRanges();
        assertEquals(4, ranges.size());
        List<Integer> all = new ArrayList<>();
        for (FeedRange range : ranges) {
            Changes found = from(range);
            assertFalse(found.numbers.isEmpty());
            all.addAll(found.numbers);
            assertEquals(List.of(), changes(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(found.token)).numbers);
        }
        assertEquals(NUMBERS, sorted(all));
    }

    @Test
    void changeFeedOfTheContainer() {
        Changes found = from(FeedRange.forFullRange());
        assertEquals(NUMBERS, sorted(found.numbers));
        c.upsertItem(numbered(7));
        assertEquals(List.of(7), changes(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(found.token)).numbers);
    }

    @Test
    void changeFeedOfAPartitionKey() {
        assertEquals(List.of(9), from(FeedRange.forLogicalPartition(key(9))).numbers);
    }

    @Test
    void queryOfEachRange() {
        List<Integer> all = new ArrayList<>();
        for (FeedRange range : c.getFeedRanges()) {
            var options = new CosmosQueryRequestOptions().setFeedRange(range);
            List<Integer> found = c.queryItems("SELECT VALUE c.n FROM c ORDER BY c.n", options, Integer.class).stream().toList();
            assertEquals(sorted(found), found);
            all.addAll(found);
        }
        assertEquals(NUMBERS, sorted(all));
    }

    @Test
    void readMany() {
        List<CosmosItemIdentity> wanted = NUMBERS.stream().map(n -> new CosmosItemIdentity(key(n), "" + n)).toList();
        assertEquals(NUMBERS, sorted(numbersOf(c.readMany(wanted, JsonNode.class).getResults())));
    }

    @Test
    void readAll() {
        for (int n : List.of(3, 30)) {
            assertEquals(List.of(n), numbersOf(c.readAllItems(key(n), JsonNode.class)));
        }
    }

    @Test
    void bulk() {
        List<CosmosItemOperation> operations = new ArrayList<>();
        NUMBERS.forEach(n -> operations.add(CosmosBulkOperations.getReadItemOperation("" + n, key(n))));
        List<Integer> found = new ArrayList<>();
        c.executeBulkOperations(operations).forEach(r -> {
            assertEquals(200, r.getResponse().getStatusCode());
            found.add(r.getResponse().getItem(JsonNode.class).get("n").asInt());
        });
        assertEquals(NUMBERS, sorted(found));
    }

    @Test
    void sessions() {
        Set<String> ranges = new TreeSet<>();
        for (int n : NUMBERS) {
            String token = c.upsertItem(numbered(n)).getSessionToken();
            ranges.add(token.split(":")[0]);
            var options = new CosmosItemRequestOptions().setSessionToken(token);
            assertEquals(n, c.readItem("" + n, key(n), options, JsonNode.class).getItem().get("n").asInt());
        }
        assertEquals(Set.of("0", "1", "2", "3"), ranges);
    }
}
