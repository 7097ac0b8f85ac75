package mayfly;

import static mayfly.Cosmos.item;
import static mayfly.Cosmos.newDatabase;
import static mayfly.Cosmos.newName;
import static mayfly.Cosmos.refused;
import static mayfly.Mayfly.EVERYDAY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.ExcludedPath;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.ThroughputProperties;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Databases, containers, throughput, partition keys. */
class ResourcesTest {
    private final CosmosClient client = Cosmos.client(EVERYDAY);

    @Test
    void databases() {
        String id = newName() + " – name";
        assertEquals(201, client.createDatabaseIfNotExists(id).getStatusCode());
        assertEquals(200, client.createDatabaseIfNotExists(id).getStatusCode());
        refused(409, () -> client.createDatabase(id));
        assertTrue(client.readAllDatabases().stream().anyMatch(d -> d.getId().equals(id)));
        var found = client.queryDatabases("SELECT * FROM r WHERE r.id = '" + id + "'", new CosmosQueryRequestOptions());
        assertEquals(1, found.stream().count());
        client.getDatabase(id).delete();
        refused(404, () -> client.getDatabase(id).read());
    }

    @Test
    void containers() {
        CosmosDatabase database = newDatabase(EVERYDAY);
        var policy = new IndexingPolicy();
        policy.setIncludedPaths(List.of(new IncludedPath("/*")));
        policy.setExcludedPaths(List.of(new ExcludedPath("/secret/?")));
        policy.setCompositeIndexes(List.of(List.of(new CompositePath().setPath("/a").setOrder(CompositePathSortOrder.ASCENDING),
                new CompositePath().setPath("/b").setOrder(CompositePathSortOrder.DESCENDING))));
        var definition = new CosmosContainerProperties("c", "/pk").setIndexingPolicy(policy).setDefaultTimeToLiveInSeconds(60)
                .setUniqueKeyPolicy(new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/email")))));
        assertEquals(201, database.createContainerIfNotExists(definition).getStatusCode());
        assertEquals(200, database.createContainerIfNotExists(definition).getStatusCode());
        refused(409, () -> database.createContainer(definition));

        CosmosContainer container = database.getContainer("c");
        CosmosContainerProperties read = container.read().getProperties();
        assertEquals(60, read.getDefaultTimeToLiveInSeconds());
        assertEquals(List.of("/email"), read.getUniqueKeyPolicy().getUniqueKeys().get(0).getPaths());
        assertEquals("/b", read.getIndexingPolicy().getCompositeIndexes().get(0).get(1).getPath());
        container.replace(read.setDefaultTimeToLiveInSeconds(null));
        assertNull(container.read().getProperties().getDefaultTimeToLiveInSeconds());

        database.createContainer("d", "/pk");
        assertEquals(List.of("c", "d"), database.readAllContainers().stream().map(CosmosContainerProperties::getId).toList());
        assertEquals(1, database.queryContainers("SELECT * FROM c WHERE c.id > 'c'").stream().count());
        container.delete();
        refused(404, container::read);
    }

    @Test
    void throughput() {
        CosmosDatabase database = newDatabase(EVERYDAY);
        database.createContainer("manual", "/pk", ThroughputProperties.createManualThroughput(500));
        CosmosContainer manual = database.getContainer("manual");
        assertEquals(500, manual.readThroughput().getProperties().getManualThroughput());
        assertEquals(700, manual.replaceThroughput(ThroughputProperties.createManualThroughput(700)).getProperties().getManualThroughput());

        database.createContainer("scaled", "/pk", ThroughputProperties.createAutoscaledThroughput(5000));
        CosmosContainer scaled = database.getContainer("scaled");
        assertEquals(5000, scaled.readThroughput().getProperties().getAutoscaleMaxThroughput());
        scaled.replaceThroughput(ThroughputProperties.createAutoscaledThroughput(7000));
        assertEquals(7000, scaled.readThroughput().getProperties().getAutoscaleMaxThroughput());

        String id = newName();
        client.createDatabase(id, ThroughputProperties.createManualThroughput(1000));
        CosmosDatabase shared = client.getDatabase(id);
        assertEquals(1000, shared.readThroughput().getProperties().getManualThroughput());
        shared.createContainer("inside", "/pk");
        refused(400, () -> shared.getContainer("inside").readThroughput()); // the SDK's own answer to none
    }

    @Test
    void hierarchicalPartitionKeys() {
        CosmosDatabase database = newDatabase(EVERYDAY);
        var key = new PartitionKeyDefinition().setPaths(List.of("/tenant", "/user", "/session"));
        key.setKind(PartitionKind.MULTI_HASH).setVersion(PartitionKeyDefinitionVersion.V2);
        database.createContainer(new CosmosContainerProperties("c", key));
        CosmosContainer c = database.getContainer("c");
        for (int i = 0; i < 24; i++) {
            c.createItem(item("{'id':'%d','tenant':'t%d','user':'u%d','session':%d,'n':%d}", i, i % 2, i % 4, i, i));
        }
        PartitionKey full = new PartitionKeyBuilder().add("t1").add("u3").add(7).build();
        assertEquals(7, c.readItem("7", full, JsonNode.class).getItem().get("n").asInt());
        refused(404, () -> c.readItem("7", new PartitionKeyBuilder().add("t1").add("u3").add(8).build(), JsonNode.class));

        assertEquals(1, count(c, full));
        assertEquals(6, count(c, new PartitionKeyBuilder().add("t1").add("u3").build()));
        assertEquals(12, count(c, new PartitionKeyBuilder().add("t1").build()));
        c.deleteAllItemsByPartitionKey(full, new CosmosItemRequestOptions());
        assertEquals(0, count(c, full));
    }

    private static long count(CosmosContainer c, PartitionKey prefix) {
        return c.queryItems("SELECT * FROM c", new CosmosQueryRequestOptions().setPartitionKey(prefix), JsonNode.class).stream().count();
    }

    @Test
    void partitionKeysOfEveryType() {
        CosmosContainer c = Cosmos.newContainer(EVERYDAY);
        var keys = List.of("'text'", "5", "1.5", "true", "null", "'ünï/%%'");
        var built = List.of(new PartitionKey("text"), new PartitionKey(5), new PartitionKey(1.5), new PartitionKey(true),
                new PartitionKeyBuilder().addNullValue().build(), new PartitionKey("ünï/%"));
        for (int i = 0; i < keys.size(); i++) {
            c.createItem(item("{'id':'x','pk':" + keys.get(i) + "}"));
            assertEquals(200, c.readItem("x", built.get(i), JsonNode.class).getStatusCode(), keys.get(i));
            assertEquals(1, count(c, built.get(i)), keys.get(i));
        }
        c.createItem(item("{'id':'x'}"));
        assertEquals(7, count(c, PartitionKey.NONE)); // the SDK then asks all partitions
        assertEquals(200, c.readItem("x", PartitionKey.NONE, JsonNode.class).getStatusCode());
    }
}
