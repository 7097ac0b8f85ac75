package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/conformance/several"
)

func TestEndpointsAnswerTLSAndPlainOnOnePort(t *testing.T) {
	several.Lack(t, "own certificate")
	s := shared(t)
	for _, scheme := range []string{"https", "http"} {
		t.Run(scheme, func(t *testing.T) {
			client, err := s.dial(scheme+"://"+s.nosql, s.https)
			ok(t, "client", err)
			defer client.Close()
			db, err := client.NewDatabase("absent")
			ok(t, "database", err)
			_, err = db.Read(within(t, patience), nil)
			wantStatus(t, "read a missing database", err, http.StatusNotFound)
		})
	}
}

func TestAccountNamesAReachableEndpoint(t *testing.T) {
	s := shared(t)
	account := s.do(t, "GET", "", nil)
	if account.status != http.StatusOK {
		t.Fatalf("GET /: %d %s", account.status, account.body)
	}
	o := account.object()
	for _, list := range []string{"writableLocations", "readableLocations"} {
		locations, _ := o[list].([]any)
		if len(locations) != 1 {
			t.Fatalf("%s: %v, want one", list, o[list])
		}
		endpoint, _ := locations[0].(map[string]any)["databaseAccountEndpoint"].(string)
		if !strings.HasPrefix(endpoint, "https://"+s.nosql) {
			t.Errorf("%s: endpoint %q, asked at https://%s", list, endpoint, s.nosql)
		}
	}
	policy, _ := o["userConsistencyPolicy"].(map[string]any)
	if policy["defaultConsistencyLevel"] != "Session" {
		t.Errorf("default consistency: %v, want Session", policy)
	}
}

func TestWrongKeyIsRefused(t *testing.T) {
	s := shared(t)
	key, err := azcosmos.NewKeyCredential("bm90IHRoZSBrZXk=")
	ok(t, "credential", err)
	var options azcosmos.ClientOptions
	options.Transport = s.https
	options.Retry.MaxRetries = -1
	client, err := azcosmos.NewClientWithKey("https://"+s.nosql, key, &options)
	ok(t, "client", err)
	defer client.Close()
	_, err = client.CreateDatabase(within(t, patience), azcosmos.DatabaseProperties{ID: "never"}, nil)
	wantStatus(t, "create with a wrong key", err, http.StatusUnauthorized)
}

func TestDatabases(t *testing.T) {
	s := shared(t)
	client := s.client(t)
	ctx := within(t, patience)
	const name = "a name with spaces & ünïcode"

	created, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	ok(t, "create", err)
	if created.RawResponse.StatusCode != http.StatusCreated || created.RequestCharge <= 0 || created.ActivityID == "" {
		t.Errorf("create: status %d, charge %v, activity %q", created.RawResponse.StatusCode, created.RequestCharge,
			created.ActivityID)
	}
	p := created.DatabaseProperties
	if p.ID != name || p.ResourceID == "" || p.ETag == nil || p.SelfLink == "" || p.LastModified.IsZero() {
		t.Errorf("properties after create: %+v", p)
	}
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil)
	wantStatus(t, "create it twice", err, http.StatusConflict)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "a#b"}, nil)
	wantStatus(t, "create with a forbidden character", err, http.StatusBadRequest)

	db, err := client.NewDatabase(name)
	ok(t, "client", err)
	read, err := db.Read(ctx, nil)
	ok(t, "read", err)
	if read.DatabaseProperties.ResourceID != p.ResourceID || read.ETag == "" {
		t.Errorf("read: %+v, etag %q", read.DatabaseProperties, read.ETag)
	}
	_, err = db.Read(ctx, &azcosmos.ReadDatabaseOptions{IfNoneMatchEtag: &read.ETag})
	if err != nil {
		wantStatus(t, "read unchanged", err, http.StatusNotModified)
	}
	if !slices.Contains(listed(t, s, "dbs", "Databases"), name) {
		t.Error("the list of databases does not have it")
	}
	gone, err := db.Delete(ctx, nil)
	ok(t, "delete", err)
	if gone.RawResponse.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %d", gone.RawResponse.StatusCode)
	}
	_, err = db.Read(ctx, nil)
	wantStatus(t, "read after delete", err, http.StatusNotFound)
	_, err = db.Delete(ctx, nil)
	wantStatus(t, "delete twice", err, http.StatusNotFound)
}

// listed are the ids of a feed, following its continuation by pages of two.
func listed(t testing.TB, s *server, path, key string) []string {
	t.Helper()
	var ids []string
	headers := []header{{"x-ms-max-item-count", "2"}}
	for range 10_000 {
		page := s.do(t, "GET", path, nil, headers...)
		if page.status != http.StatusOK {
			t.Fatalf("list %s: %d %s", path, page.status, page.body)
		}
		rows, _ := page.object()[key].([]any)
		if len(rows) > 2 {
			t.Fatalf("list %s: a page of %d, asked for 2", path, len(rows))
		}
		for _, row := range rows {
			id, _ := row.(map[string]any)["id"].(string)
			ids = append(ids, id)
		}
		next := page.header.Get("x-ms-continuation")
		if next == "" {
			return ids
		}
		headers = []header{{"x-ms-max-item-count", "2"}, {"x-ms-continuation", next}}
	}
	t.Fatalf("list %s: no end", path)
	return nil
}
