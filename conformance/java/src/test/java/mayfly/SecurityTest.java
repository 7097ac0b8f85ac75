package mayfly;

import static mayfly.Cosmos.P;
import static mayfly.Cosmos.item;
import static mayfly.Cosmos.refused;
import static mayfly.Mayfly.EVERYDAY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CosmosPermissionProperties;
import com.azure.cosmos.models.CosmosUserProperties;
import com.azure.cosmos.models.PermissionMode;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Users, permissions and what a resource token opens. Permissions are the asynchronous client's alone. */
class SecurityTest {
    @Test
    void usersAndPermissions() {
        CosmosDatabase database = Cosmos.newDatabase(EVERYDAY);
        database.createContainer("open", "/pk");
        database.createContainer("shut", "/pk");
        for (String id : List.of("open", "shut")) {
            database.getContainer(id).createItem(item("{'id':'x','pk':'p'}"));
        }
        database.createUser(new CosmosUserProperties().setId("ada"));
        refused(409, () -> database.createUser(new CosmosUserProperties().setId("ada")));
        assertEquals(List.of("ada"), database.readAllUsers().stream().map(CosmosUserProperties::getId).toList());

        try (CosmosAsyncClient owner = Cosmos.builder(EVERYDAY).buildAsyncClient()) {
            var ada = owner.getDatabase(database.getId()).getUser("ada");
            var permission = new CosmosPermissionProperties().setId("read").setPermissionMode(PermissionMode.READ).setContainerName("open");
            CosmosPermissionProperties made = ada.createPermission(permission, null).block().getProperties();
            assertTrue(made.getToken().startsWith("type=resource&ver=1"));
            assertEquals(PermissionMode.READ, made.getPermissionMode());
            var partition = ada.createPermission(new CosmosPermissionProperties().setId("partition").setPermissionMode(PermissionMode.ALL)
                    .setContainerName("shut").setResourcePartitionKey(P), null).block().getProperties();
            assertEquals(2, ada.readAllPermissions().collectList().block().size());

            // By token: of a list of permissions the SDK forgets the database.
            try (var guest = guest(made)) {
                CosmosContainer open = guest.getDatabase(database.getId()).getContainer("open");
                assertEquals(200, open.readItem("x", P, JsonNode.class).getStatusCode());
                refused(403, () -> open.createItem(item("{'id':'y','pk':'p'}")));
                refused(403, () -> guest.getDatabase(database.getId()).getContainer("shut").readItem("x", P, JsonNode.class));
            }
            try (var guest = guest(partition)) {
                CosmosContainer shut = guest.getDatabase(database.getId()).getContainer("shut");
                assertEquals(201, shut.createItem(item("{'id':'y','pk':'p'}")).getStatusCode());
                refused(403, () -> shut.createItem(item("{'id':'z','pk':'q'}")));
            }
            ada.getPermission("read").delete(null).block();
            refused(404, () -> ada.getPermission("read").read(null).block());
        }
    }

    private static CosmosClient guest(CosmosPermissionProperties permission) {
        return new CosmosClientBuilder().endpoint(EVERYDAY.https).gatewayMode().resourceToken(permission.getToken()).buildClient();
    }

    @Test
    void aWrongKey() {
        var wrong = Cosmos.builder(EVERYDAY).key("d3Jvbmc=");
        var error = assertThrows(RuntimeException.class, wrong::buildClient);
        assertTrue(error.getMessage().contains("The wrong key is being used"), error.getMessage());
    }
}
