package mayfly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.function.Executable;

/** Clients of the NoSQL API, and what tests make with them. */
final class Cosmos {
    static final PartitionKey P = new PartitionKey("p");
    private static final JsonMapper JSON = JsonMapper.builder().enable(JsonReadFeature.ALLOW_SINGLE_QUOTES).build();
    private static final Map<Mayfly, CosmosClient> CLIENTS = new ConcurrentHashMap<>();
    private static final AtomicInteger MADE = new AtomicInteger();

    private Cosmos() { }

    /** The SDK in gateway mode, over TLS. */
    static CosmosClientBuilder builder(Mayfly mayfly) {
        return new CosmosClientBuilder().endpoint(mayfly.https).key(Mayfly.KEY).gatewayMode()
                .consistencyLevel(ConsistencyLevel.SESSION).contentResponseOnWriteEnabled(true);
    }

    static CosmosClient client(Mayfly mayfly) {
        return CLIENTS.computeIfAbsent(mayfly, m -> builder(m).buildClient());
    }

    static String newName() {
        return "java-" + MADE.incrementAndGet();
    }

    static CosmosDatabase newDatabase(Mayfly mayfly) {
        String id = newName();
        client(mayfly).createDatabase(id);
        return client(mayfly).getDatabase(id);
    }

    /** A container "things" in a database of its own, partitioned by /pk. */
    static CosmosContainer newContainer(Mayfly mayfly, Consumer<CosmosContainerProperties> define) {
        var properties = new CosmosContainerProperties("things", "/pk");
        define.accept(properties);
        CosmosDatabase database = newDatabase(mayfly);
        database.createContainer(properties);
        return database.getContainer("things");
    }

    static CosmosContainer newContainer(Mayfly mayfly) {
        return newContainer(mayfly, properties -> { });
    }

    /** JSON, in which ' may stand for ". */
    static ObjectNode item(String json, Object... args) {
        try {
            return (ObjectNode) JSON.readTree(String.format(json, args));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** All rows of a query. */
    static <T> List<T> rows(CosmosContainer container, String query, Class<T> type) {
        return container.queryItems(query, new CosmosQueryRequestOptions(), type).stream().toList();
    }

    static List<String> ids(Iterable<? extends JsonNode> items) {
        List<String> ids = new ArrayList<>();
        items.forEach(item -> ids.add(item.get("id").asText()));
        return ids;
    }

    static List<String> words(String text) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(" "));
    }

    /** The error with which the server must refuse, and its status. */
    static CosmosException refused(int status, Executable call) {
        var error = assertThrows(CosmosException.class, call);
        assertEquals(status, error.getStatusCode(), error::getMessage);
        return error;
    }
}
