package mayfly;

import static mayfly.Cosmos.item;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** One mayfly process, in memory, with both APIs on free ports of 127.0.0.1. */
final class Mayfly {
    /** The account key that every emulator shares and publishes. */
    static final String KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

    /** The mayfly for tests that neither move its clock nor set its flags. */
    static final Mayfly EVERYDAY = new Mayfly();
    /** The mayfly that leaves the merging of partitions to the SDK, as the cloud does. */
    static final Mayfly STRICT = new Mayfly("--cross-partition=strict");
    /** The mayfly whose new containers have four ranges of partition keys. */
    static final Mayfly DIVIDED = new Mayfly("--partitions=4");
    /** The mayfly whose clock stands still until a test moves it; its first second is a whole one. */
    static final Mayfly VIRTUAL = new Mayfly("--clock=virtual=2030-01-01T00:00:00Z");

    // Both clients trust what the Java machine trusts, and that is asked for
    // when a client is made: one trust store with all authorities, before the first.
    static {
        try {
            trust(EVERYDAY, STRICT, DIVIDED, VIRTUAL);
        } catch (IOException | GeneralSecurityException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final String https;
    final String mongo;
    private final String http;
    private final String admin;
    private final HttpClient web = HttpClient.newHttpClient();

    private Mayfly(String... flags) {
        List<String> command = new ArrayList<>(List.of(binary(), "--memory", "--nosql", "127.0.0.1:0", "--mongo", "127.0.0.1:0",
                "--admin", "127.0.0.1:0"));
        command.addAll(List.of(flags));
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            // It tells its addresses when it is ready, and ends with a line of advice.
            BufferedReader output = process.inputReader();
            StringBuilder banner = new StringBuilder();
            for (String line = ""; !line.startsWith("Stop with"); ) {
                line = output.readLine();
                if (line == null) {
                    throw new IllegalStateException(command + " did not get ready:\n" + banner);
                }
                banner.append(line).append('\n');
            }
            Thread reader = new Thread(() -> output.lines().forEach(line -> { })); // or else the pipe fills and mayfly waits
            reader.setDaemon(true);
            reader.start();
            https = "https://127.0.0.1:" + port(banner, "NoSQL");
            http = "http://127.0.0.1:" + port(banner, "NoSQL");
            mongo = "mongodb://127.0.0.1:" + port(banner, "MongoDB") + "/?replicaSet=globaldb";
            admin = "http://127.0.0.1:" + port(banner, "Admin");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String binary() {
        String path = System.getenv("TESTED_BIN");
        if (path == null) {
            throw new IllegalStateException("TESTED_BIN must name a mayfly binary; `make java` in the folder above builds one");
        }
        return path;
    }

    private static String port(CharSequence banner, String what) {
        var matcher = Pattern.compile(what + " +\\w+://[^/]*:(\\d+)/").matcher(banner);
        if (!matcher.find()) {
            throw new IllegalStateException("no address of " + what + " in\n" + banner);
        }
        return matcher.group(1);
    }

    private static void trust(Mayfly... all) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (Mayfly mayfly : all) {
            InputStream pem = new ByteArrayInputStream(mayfly.send(HttpRequest.newBuilder(URI.create(mayfly.http + "/_mayfly/ca.pem"))).getBytes());
            store.setCertificateEntry(mayfly.https, CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        Path file = Files.createTempFile("mayfly-java-", ".p12");
        file.toFile().deleteOnExit();
        try (OutputStream to = Files.newOutputStream(file)) {
            store.store(to, "changeit".toCharArray());
        }
        System.setProperty("javax.net.ssl.trustStore", file.toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    }

    /** Moves a virtual clock; what is due by then has happened when it returns. */
    void advance(long seconds) {
        send(HttpRequest.newBuilder(URI.create(admin + "/clock/advance"))
                .POST(HttpRequest.BodyPublishers.ofString("{\"duration\":\"" + seconds + "s\"}")));
    }

    /** Splits a range of a container and waits for the end. */
    void split(String database, String container, String range) {
        String ranges = admin + "/_mayfly/v1/databases/" + database + "/containers/" + container + "/ranges";
        send(HttpRequest.newBuilder(URI.create(ranges + "/" + range + "/split")).header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{}")));
        while (true) {
            JsonNode now = item("%s", send(HttpRequest.newBuilder(URI.create(ranges))));
            if (!now.hasNonNull("split")) {
                for (JsonNode one : now.get("ranges")) {
                    if (one.get("id").asText().equals(range)) {
                        throw new IllegalStateException("range " + range + " was not split");
                    }
                }
                return;
            }
        }
    }

    private String send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> answer = web.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 != 2) {
                throw new IllegalStateException(answer.statusCode() + " " + answer.body());
            }
            return answer.body();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
