package mayfly;

import static mayfly.Cosmos.refused;
import static mayfly.Mayfly.VIRTUAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.IndexingMode;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.ThroughputProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * The samples of the service's own articles on expiry, as they were in 2018 to
 * 2020, in this client's words: "orders" and the sales order are theirs.
 */
class SeedsTest {
    private static final String CUSTOMER = "CO18009186470";
    private static final int DAY = 24 * 60 * 60;

    /** Leaves ttl out when it is null, which means to inherit. */
    public static final class SalesOrder {
        @JsonProperty("id")
        public String id;
        @JsonProperty("customerId")
        public String customerId = CUSTOMER;
        @JsonProperty("ttl")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        public Integer timeToLive;
        @JsonProperty("_ts")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        public Long stamp;

        static SalesOrder of(String id, Integer timeToLive) {
            var order = new SalesOrder();
            order.id = id;
            order.timeToLive = timeToLive;
            return order;
        }
    }

    private static CosmosContainer orders(Consumer<CosmosContainerProperties> define) {
        var definition = new CosmosContainerProperties("orders", "/customerId");
        define.accept(definition);
        CosmosDatabase database = Cosmos.newDatabase(VIRTUAL);
        database.createContainer(definition, ThroughputProperties.createManualThroughput(20000));
        return database.getContainer("orders");
    }

    private static SalesOrder read(CosmosContainer c, String id) {
        try {
            return c.readItem(id, new PartitionKey(CUSTOMER), SalesOrder.class).getItem();
        } catch (CosmosException e) {
            assertEquals(404, e.getStatusCode());
            return null;
        }
    }

    private static SalesOrder replace(CosmosContainer c, SalesOrder order) {
        return c.replaceItem(order, order.id, new PartitionKey(CUSTOMER), new CosmosItemRequestOptions()).getItem();
    }

    @Test
    void enablingWithoutADefault() {
        CosmosContainer c = orders(p -> p.setDefaultTimeToLiveInSeconds(-1));
        assertEquals(20000, c.readThroughput().getProperties().getManualThroughput());
        c.createItem(SalesOrder.of("SO04", null));
        c.createItem(SalesOrder.of("SO05", 30 * DAY));
        VIRTUAL.advance(30 * DAY - 1);
        assertTrue(read(c, "SO05") != null);
        VIRTUAL.advance(1);
        assertNull(read(c, "SO05"));
        VIRTUAL.advance(10L * 365 * DAY);
        assertTrue(read(c, "SO04") != null);
    }

    @Test
    void ninetyDaysByDefault() {
        CosmosContainer c = orders(p -> p.setDefaultTimeToLiveInSeconds(90 * DAY));
        c.createItem(SalesOrder.of("SO04", null));
        c.createItem(SalesOrder.of("SO05", 30 * DAY));
        VIRTUAL.advance(30 * DAY);
        assertTrue(read(c, "SO04") != null && read(c, "SO05") == null);
        VIRTUAL.advance(60 * DAY - 1);
        assertTrue(read(c, "SO04") != null);
        VIRTUAL.advance(1);
        assertNull(read(c, "SO04"));
    }

    @Test
    void extending() {
        CosmosContainer c = orders(p -> p.setDefaultTimeToLiveInSeconds(-1));
        c.createItem(SalesOrder.of("SO05", 100));
        VIRTUAL.advance(99);
        SalesOrder order = read(c, "SO05");
        long before = order.stamp;
        order.timeToLive = 60 * 30 * 30;
        assertEquals(before + 99, replace(c, order).stamp);
        VIRTUAL.advance(60 * 30 * 30 - 1);
        assertTrue(read(c, "SO05") != null);
        VIRTUAL.advance(1);
        assertNull(read(c, "SO05"));
    }

    @Test
    void removing() {
        CosmosContainer c = orders(p -> p.setDefaultTimeToLiveInSeconds(1000));
        c.createItem(SalesOrder.of("inherits", 100));
        c.createItem(SalesOrder.of("stays", 100));
        SalesOrder order = read(c, "inherits");
        order.timeToLive = null;
        replace(c, order);
        order = read(c, "stays");
        order.timeToLive = -1;
        replace(c, order);
        VIRTUAL.advance(999);
        assertTrue(read(c, "inherits") != null);
        VIRTUAL.advance(1);
        assertTrue(read(c, "inherits") == null && read(c, "stays") != null);
    }

    @Test
    void disabling() {
        CosmosContainer c = orders(p -> p.setDefaultTimeToLiveInSeconds(100));
        c.createItem(SalesOrder.of("SO04", null));
        c.createItem(SalesOrder.of("SO05", 30));
        c.replace(c.read().getProperties().setDefaultTimeToLiveInSeconds(null));
        assertNull(c.read().getProperties().getDefaultTimeToLiveInSeconds());
        VIRTUAL.advance(365L * DAY);
        assertFalse(read(c, "SO04") == null || read(c, "SO05") == null);
    }

    @Test
    void whatIndexingTtlNeeds() {
        var none = new IndexingPolicy().setIndexingMode(IndexingMode.NONE).setAutomatic(false);
        var error = refused(400, () -> orders(p -> p.setDefaultTimeToLiveInSeconds(100).setIndexingPolicy(none)));
        assertTrue(error.getMessage().contains("defaultTtl"), error.getMessage());
        orders(p -> p.setDefaultTimeToLiveInSeconds(100).setIndexingPolicy(new IndexingPolicy().setIndexingMode(IndexingMode.LAZY)));
    }
}
