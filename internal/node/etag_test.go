package node

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// exchange sends a request with a header, "" for none, and gives status, ETag and body.
func exchange(t *testing.T, method, url, name, value, body string) (status int, etag, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("ETag"), string(all)
}

// An item of either dialect has an ETag that guards a change, so that two people who edit it do not lose an edit.
func TestItemsOfBothDialectsHaveETags(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0", Mongo: Mongo{Address: "127.0.0.1:0"}})
	v1 := n.AdminURL() + "_mayfly/v1/databases"
	exchange(t, "POST", v1, "", "", `{"id": "a"}`)
	exchange(t, "POST", v1+"/a/containers", "", "", `{"id": "m", "dialect": "mongodb"}`)
	exchange(t, "POST", v1+"/a/containers", "", "", `{"id": "n", "partitionKey": {"paths": ["/id"]}}`)
	for dialect, items := range map[string]string{
		"mongodb": v1 + "/a/containers/m/items", "nosql": v1 + "/a/containers/n/items",
	} {
		t.Run(dialect, func(t *testing.T) {
			item := func(v string) string { return `{"id": "1", "v": ` + v + `}` }
			if dialect == "mongodb" {
				item = func(v string) string { return `{"_id": "1", "v": ` + v + `}` }
			}
			want := func(status, wants int, text string) {
				t.Helper()
				if status != wants {
					t.Fatalf("status %d, want %d: %s", status, wants, text)
				}
			}
			status, made, text := exchange(t, "POST", items, "", "", item("1"))
			want(status, 201, text)
			status, first, text := exchange(t, "GET", items+"/1", "", "", "")
			want(status, 200, text)
			if first == "" || made != first {
				t.Errorf("ETag %q, was %q when it was made", first, made)
			}
			status, same, text := exchange(t, "GET", items+"/1", "If-None-Match", first, "")
			want(status, 304, text)
			if dialect == "mongodb" && same != first {
				t.Errorf("304 with ETag %q, want %q", same, first)
			}
			status, second, text := exchange(t, "PUT", items+"/1", "If-Match", first, item("2"))
			want(status, 200, text)
			if _, now, _ := exchange(t, "GET", items+"/1", "", "", ""); now != second || second == first {
				t.Errorf("ETag %q, %q after the change, %q before it", now, second, first)
			}
			status, _, text = exchange(t, "PUT", items+"/1", "If-Match", first, item("3"))
			want(status, 412, text)
			status, _, text = exchange(t, "DELETE", items+"/1", "If-Match", first, "")
			want(status, 412, text)
			status, _, text = exchange(t, "PUT", items+"/1", "If-Match", `"mine"`, item("3"))
			want(status, 412, text)
			status, _, text = exchange(t, "GET", items+"/1", "If-None-Match", first, "")
			want(status, 200, text)
			if !strings.Contains(text, `"v":2`) {
				t.Errorf("a refused change was made: %s", text)
			}
			other := strings.Replace(item("1"), `"1"`, `"2"`, 1)
			status, _, text = exchange(t, "PUT", items+"/2", "If-Match", first, other)
			want(status, 404, text)
			status, _, text = exchange(t, "PUT", items+"/1", "If-Match", "*", item("4"))
			want(status, 200, text)
			status, third, _ := exchange(t, "PUT", items+"/1", "", "", item("5"))
			want(status, 200, text)
			status, _, text = exchange(t, "DELETE", items+"/1", "If-Match", third, "")
			want(status, 204, text)
		})
	}
}

// A condition on a document that is not there is not met, and nothing is made.
func TestIfMatchMakesNoDocument(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0", Mongo: Mongo{Address: "127.0.0.1:0"}})
	v1 := n.AdminURL() + "_mayfly/v1/databases"
	exchange(t, "POST", v1, "", "", `{"id": "a"}`)
	exchange(t, "POST", v1+"/a/containers", "", "", `{"id": "m", "dialect": "mongodb"}`)
	items := v1 + "/a/containers/m/items"
	_, etag, _ := exchange(t, "POST", items, "", "", `{"_id": "there"}`)
	for _, c := range []struct {
		query, ifMatch, id string
		want               int
	}{
		{"?upsert=true", etag, "1", 412},
		{"?upsert=true", "*", "1", 412},
		{"?upsert=true", `"mine"`, "1", 412},
		{"?upsert=true", `"mine"`, "there", 412},
		{"?upsert=true", etag, "there", 200},
		{"", etag, "1", 501},
		{"", "*", "1", 501},
	} {
		status, _, text := exchange(t, "POST", items+c.query, "If-Match", c.ifMatch, `{"_id": "`+c.id+`"}`)
		if status != c.want {
			t.Errorf("POST %s with If-Match %s of %s: %d, want %d: %s", c.query, c.ifMatch, c.id, status, c.want, text)
		}
	}
	if status, _, text := exchange(t, "GET", items+"/1", "", "", ""); status != 404 {
		t.Errorf("a refused request made a document: %d %s", status, text)
	}
}

// The rows of a view are made of documents of other collections: they have no ETag and no lifetime of their own.
func TestItemsOfViews(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0", Mongo: Mongo{Address: "127.0.0.1:0"}})
	v1 := n.AdminURL() + "_mayfly/v1/databases"
	made := func(method, path, body string) {
		t.Helper()
		if status, _, text := exchange(t, method, v1+path, "", "", body); status != 201 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	made("POST", "", `{"id": "a"}`)
	made("POST", "/a/containers", `{"id": "m", "dialect": "mongodb", "defaultTtl": 3600}`)
	made("POST", "/a/containers", `{"id": "v", "dialect": "mongodb", "options": {"viewOn": "m", "pipeline": []}}`)
	made("POST", "/a/containers/m/items", `{"_id": "1"}`)
	view := v1 + "/a/containers/v"
	status, etag, text := exchange(t, "GET", view+"/items/1", "", "", "")
	if status != 200 || etag != "" || !strings.Contains(text, `"_id":"1"`) {
		t.Errorf("%d, ETag %q: %s", status, etag, text)
	}
	for _, body := range []string{"", `{"find": {}, "lifetimes": true}`, `{"pipeline": [], "lifetimes": true}`,
		`{"sql": "SELECT * FROM c", "lifetimes": true}`} {
		method, url := "POST", view+"/query"
		if body == "" {
			method, url = "GET", view+"/items?lifetimes=true"
		}
		status, _, text := exchange(t, method, url, "", "", body)
		if strings.Contains(body, "sql") && status >= 400 {
			continue // a view may have no such rows at all
		}
		if status != 200 || !strings.Contains(text, `"_id":"1"`) || !strings.Contains(text, `"lifetimes":[false]`) {
			t.Errorf("%s %s: %d %s", method, body, status, text)
		}
	}
}
