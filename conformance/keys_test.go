package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/conformance/several"
)

// keysOf are the account keys of a server by name.
func keysOf(t *testing.T, s *server) map[string]string {
	t.Helper()
	var answer struct{ Keys []struct{ Name, Key string } }
	operateKeys(t, s, http.MethodGet, "keys?show=true", &answer)
	keys := map[string]string{}
	for _, k := range answer.Keys {
		keys[k.Name] = k.Key
	}
	return keys
}

func operateKeys(t *testing.T, s *server, method, path string, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.admin+"/_mayfly/v1/"+path,
		bytes.NewReader(nil))
	ok(t, "request", err)
	r.Header.Set("Authorization", "Bearer "+emulatorKey)
	response, err := http.DefaultClient.Do(r)
	ok(t, path, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	ok(t, path, json.NewDecoder(response.Body).Decode(answer))
}

func clientBy(t *testing.T, s *server, key string) *azcosmos.Client {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(key)
	ok(t, "credential", err)
	var options azcosmos.ClientOptions
	options.Transport = s.https
	options.Retry.MaxRetries = -1
	client, err := azcosmos.NewClientWithKey("https://"+s.nosql, credential, &options)
	ok(t, "client", err)
	t.Cleanup(client.Close)
	return client
}

// The SDK reads with a read-only key and cannot write, and a key that has been replaced is a wrong key, while the other
// one goes on.
func TestKeys(t *testing.T) {
	several.Lack(t, "key rotation")
	s := start(t, "--memory")
	keys := keysOf(t, s)
	create := func(key, name string) error {
		_, err := clientBy(t, s, key).CreateDatabase(within(t, patience), azcosmos.DatabaseProperties{ID: name}, nil)
		return err
	}
	read := func(key, name string) error {
		db, err := clientBy(t, s, key).NewDatabase(name)
		ok(t, "database", err)
		_, err = db.Read(within(t, patience), nil)
		return err
	}
	ok(t, "create by the secondary key", create(keys["secondary"], "shop"))
	for _, name := range []string{"primaryReadonly", "secondaryReadonly"} {
		ok(t, "read by "+name, read(keys[name], "shop"))
		wantStatus(t, "create by "+name, create(keys[name], "never"), http.StatusUnauthorized)
	}
	going := clientBy(t, s, keys["secondary"])
	var made struct{ Key string }
	operateKeys(t, s, http.MethodPost, "keys/secondary/rotate", &made)
	_, err := going.CreateDatabase(within(t, patience), azcosmos.DatabaseProperties{ID: "never"}, nil)
	wantStatus(t, "create by the old key, over an open connection", err, http.StatusUnauthorized)
	wantStatus(t, "read by the old key", read(keys["secondary"], "shop"), http.StatusUnauthorized)
	ok(t, "read by the new key", read(made.Key, "shop"))
	ok(t, "read by the primary key", read(emulatorKey, "shop"))
}
