package mayfly;

import static mayfly.Cosmos.item;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranges of partition keys that are split while the SDK reads and writes, with what it has cached about them. */
class SplitsTest {
    private static final List<Integer> NUMBERS = IntStream.range(0, 60).boxed().toList();

    /** Who merges queries, and over how many ranges; the ranges to split in turn. */
    enum Mode {
        ONE(Mayfly.EVERYDAY, "0", "1"), STRICT(Mayfly.STRICT, "0", "1"), FOUR(Mayfly.DIVIDED, "0", "2");

        final Mayfly mayfly;
        final List<String> splits;

        Mode(Mayfly mayfly, String... splits) {
            this.mayfly = mayfly;
            this.splits = List.of(splits);
        }

        Filled filled() {
            CosmosDatabase database = Cosmos.newDatabase(mayfly);
            database.createContainer("things", "/pk");
            CosmosContainer c = database.getContainer("things");
            NUMBERS.forEach(n -> c.createItem(numbered(n * 7 % 60))); // not in the order of the numbers
            return new Filled(this, database, c);
        }
    }

    /** A container with the items. */
    private record Filled(Mode mode, CosmosDatabase database, CosmosContainer c) {
        void split(String range) {
            mode.mayfly.split(database.getId(), c.getId(), range);
        }
    }

    private static JsonNode numbered(int n) {
        return item("{'id':'%d','pk':'key %d','n':%d}", n, n, n);
    }

    private static PartitionKey key(int n) {
        return new PartitionKey("key " + n);
    }

    private static List<Integer> sorted(List<Integer> numbers) {
        return numbers.stream().sorted().toList();
    }

    private static Iterator<FeedResponse<JsonNode>> pages(Filled filled, String query, String token) {
        return filled.c.queryItems(query, new CosmosQueryRequestOptions(), JsonNode.class).iterableByPage(token, 4).iterator();
    }

    /** Reads a query to its end and splits a range after each of the first pages; returns the numbers of the items. */
    private static List<Integer> readOver(Filled filled, String query, boolean byTokens) {
        List<Integer> found = new ArrayList<>();
        List<String> splits = new ArrayList<>(filled.mode.splits);
        var pages = pages(filled, query, null);
        while (pages.hasNext()) {
            var page = pages.next();
            page.getResults().forEach(i -> found.add(i.get("n").asInt()));
            if (!splits.isEmpty()) {
                assertTrue(found.size() < NUMBERS.size(), "the query has ended before the split");
                filled.split(splits.remove(0));
            }
            if (byTokens && page.getContinuationToken() != null) {
                pages = pages(filled, query, page.getContinuationToken());
            }
        }
        assertEquals(List.of(), splits);
        return found;
    }

    /** Adds what is new in the feed to found, at most so many pages, and returns the token to go on with. */
    private static String follow(CosmosContainer c, CosmosChangeFeedRequestOptions options, List<Integer> found, int most) {
        String token = null;
        for (var page : c.queryChangeFeed(options.setMaxItemCount(4), JsonNode.class).iterableByPage()) {
            page.getResults().forEach(i -> found.add(i.get("n").asInt()));
            token = page.getContinuationToken();
            if (--most == 0) {
                break;
            }
        }
        return token;
    }

    private static CosmosChangeFeedRequestOptions after(String token) {
        return CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(token);
    }

    // Not by tokens: a token has one position, in one of the new ranges, and the SDK reads those to its right from the
    // beginning (com/azure/cosmos/implementation/query/ParallelDocumentQueryExecutionContext.java, initialize).
    @ParameterizedTest
    @EnumSource
    void query(Mode mode) {
        assertEquals(NUMBERS, sorted(readOver(mode.filled(), "SELECT * FROM c", false)));
    }

    @ParameterizedTest
    @EnumSource
    void queryWithOrderBy(Mode mode) {
        assertEquals(NUMBERS, readOver(mode.filled(), "SELECT * FROM c ORDER BY c.n", false));
        assertEquals(NUMBERS, readOver(mode.filled(), "SELECT * FROM c ORDER BY c.n", true));
    }

    @ParameterizedTest
    @EnumSource
    void changeFeed(Mode mode) {
        Filled filled = mode.filled();
        CosmosContainer c = filled.c;
        List<Integer> found = new ArrayList<>();
        String token = follow(c, CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange()), found, 3);
        for (String range : mode.splits) {
            filled.split(range);
            token = follow(c, after(token), found, 2);
        }
        c.upsertItem(numbered(60));
        c.upsertItem(numbered(61));
        token = follow(c, after(token), found, 1000);
        assertEquals(Stream.concat(NUMBERS.stream(), Stream.of(60, 61)).toList(), sorted(found));
        follow(c, after(token), found, 1000);
        assertEquals(62, found.size());
    }

    @ParameterizedTest
    @EnumSource
    void readsAndWrites(Mode mode) {
        Filled filled = mode.filled();
        CosmosContainer c = filled.c;
        c.getFeedRanges();
        for (String range : mode.splits) {
            filled.split(range);
            for (int n : NUMBERS) {
                assertEquals(n, c.readItem("" + n, key(n), JsonNode.class).getItem().get("n").asInt());
                assertEquals(200, c.upsertItem(numbered(n)).getStatusCode());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void bulk(Mode mode) {
        Filled filled = mode.filled();
        CosmosContainer c = filled.c;
        List<CosmosItemOperation> writes = new ArrayList<>();
        NUMBERS.forEach(n -> writes.add(CosmosBulkOperations.getUpsertItemOperation(numbered(n), key(n))));
        c.executeBulkOperations(writes);
        for (String range : mode.splits) {
            filled.split(range);
            int done = 0;
            for (var answer : c.executeBulkOperations(writes)) {
                assertEquals(200, answer.getResponse().getStatusCode());
                done++;
            }
            assertEquals(NUMBERS.size(), done);
        }
    }
}
