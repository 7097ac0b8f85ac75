package mayfly;

import static mayfly.Cosmos.item;
import static mayfly.Mayfly.EVERYDAY;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The change feed: every start, every scope, pages, going on by a token; and the change feed processor. */
class ChangeFeedTest {
    private record Changes(List<String> ids, String token) { }

    private static Changes changes(CosmosContainer c, CosmosChangeFeedRequestOptions options) {
        List<String> ids = new ArrayList<>();
        String token = null;
        for (var page : c.queryChangeFeed(options.setMaxItemCount(2), JsonNode.class).iterableByPage()) {
            ids.addAll(Cosmos.ids(page.getResults()));
            token = page.getContinuationToken();
        }
        return new Changes(ids, token);
    }

    private static CosmosChangeFeedRequestOptions beginning(FeedRange range) {
        return CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(range);
    }

    private static CosmosContainer filled() {
        CosmosContainer c = Cosmos.newContainer(EVERYDAY);
        for (int i = 0; i < 6; i++) {
            c.createItem(item("{'id':'%d','pk':'k%d'}", i, i % 2));
        }
        return c;
    }

    @Test
    void fromTheBeginning() {
        CosmosContainer c = filled();
        Changes first = changes(c, beginning(FeedRange.forFullRange()));
        assertEquals(List.of("0", "1", "2", "3", "4", "5"), first.ids);
        c.upsertItem(item("{'id':'2','pk':'k0','again':true}"));
        c.deleteItem("3", new PartitionKey("k1"), new CosmosItemRequestOptions());
        assertEquals(List.of("2"), changes(c, CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(first.token)).ids);
        assertEquals(List.of("0", "1", "4", "5", "2"), changes(c, beginning(FeedRange.forFullRange())).ids);
    }

    @Test
    void fromNow() {
        CosmosContainer c = filled();
        Changes first = changes(c, CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange()));
        assertEquals(List.of(), first.ids);
        c.createItem(item("{'id':'new','pk':'k0'}"));
        assertEquals(List.of("new"), changes(c, CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(first.token)).ids);
    }

    @Test
    void fromATime() {
        CosmosContainer c = filled();
        Instant now = Instant.now();
        assertEquals(6, changes(c, CosmosChangeFeedRequestOptions.createForProcessingFromPointInTime(now.minusSeconds(3600), FeedRange.forFullRange())).ids.size());
        assertEquals(0, changes(c, CosmosChangeFeedRequestOptions.createForProcessingFromPointInTime(now.plusSeconds(3600), FeedRange.forFullRange())).ids.size());
    }

    @Test
    void ofRanges() {
        CosmosContainer c = filled();
        assertEquals(List.of("1", "3", "5"), changes(c, beginning(FeedRange.forLogicalPartition(new PartitionKey("k1")))).ids);
        List<String> all = new ArrayList<>();
        c.getFeedRanges().forEach(range -> all.addAll(changes(c, beginning(range)).ids));
        assertEquals(List.of("0", "1", "2", "3", "4", "5"), all.stream().sorted().toList());
    }

    @Test
    void processor() throws InterruptedException {
        String database = Cosmos.newName();
        try (var client = Cosmos.builder(EVERYDAY).buildAsyncClient()) {
            client.createDatabase(database).block();
            client.getDatabase(database).createContainer("feed", "/pk").block();
            client.getDatabase(database).createContainer("leases", "/id").block();
            var feed = client.getDatabase(database).getContainer("feed");
            BlockingQueue<String> seen = new LinkedBlockingQueue<>();
            var processor = new ChangeFeedProcessorBuilder().hostName("here").feedContainer(feed)
                    .leaseContainer(client.getDatabase(database).getContainer("leases"))
                    .options(new ChangeFeedProcessorOptions().setStartFromBeginning(true).setFeedPollDelay(Duration.ofMillis(50)))
                    .handleChanges(items -> seen.addAll(Cosmos.ids(items))).buildChangeFeedProcessor();
            feed.createItem(item("{'id':'before','pk':'p'}")).block();
            processor.start().block();
            assertEquals("before", seen.poll(30, TimeUnit.SECONDS));
            feed.createItem(item("{'id':'after','pk':'p'}")).block();
            assertEquals("after", seen.poll(30, TimeUnit.SECONDS));
            processor.stop().block();
        }
    }
}
