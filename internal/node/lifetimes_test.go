package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestLifetimesOfRows asks for the deadlines of rows, in both languages and of both dialects.
func TestLifetimesOfRows(t *testing.T) {
	s := newAdminStory(t, Options{})
	containersOfLives(t, s)
	const (
		nosql = "/databases/shop/containers/nosql"
		byDay = "/databases/shop/containers/property"
		mongo = "/databases/shop/containers/mongo"
	)
	for _, c := range []struct{ request, want string }{
		{"GET " + nosql + "/items?lifetimes=true", "[+3600,+60,null]"},
		{"GET " + nosql + "/items?lifetimes=true&max=1", "[+3600]"},
		{"GET " + nosql + "/items", ""},
		{"GET " + nosql + "/items?lifetimes=false", ""},
		{"GET " + byDay + "/items?lifetimes=true", "[+1100,+1010]"},
		{"GET " + mongo + "/items?lifetimes=true", "[+90,+40,+3600,null]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT * FROM c ORDER BY c.id DESC"}`, "[null,+60,+3600]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT c.id, c._rid FROM c"}`, "[+3600,+60,null]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT c.id, c.pk FROM c"}`, "[+3600,+60,null]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT c.id FROM c"}`, "[false,false,false]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT VALUE c.id FROM c"}`, "[false,false,false]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT VALUE COUNT(1) FROM c"}`, "[false]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT 'x' AS _rid, c.id, c.pk FROM c"}`, "[false,false,false]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT 'none' AS id, c.pk FROM c"}`, "[false,false,false]"},
		{"POST " + nosql + "/query " + `{"sql": "SELECT * FROM c WHERE false"}`, "[]"},
		{"POST " + nosql + "/query " + `{"find": {"sort": {"_id": -1}}}`, "[null,+60,+3600]"},
		{"POST " + nosql + "/query " + `{"find": {"projection": {"pk": 1}}}`, "[+3600,+60,null]"},
		{"POST " + nosql + "/query " + `{"find": {"projection": {"n": 1}}}`, "[false,false,false]"},
		{"POST " + mongo + "/query " + `{"sql": "SELECT * FROM c"}`, "[+90,+40,+3600,null]"},
		{"POST " + mongo + "/query " + `{"sql": "SELECT c._id, 1 AS one FROM c"}`, "[+90,+40,+3600,null]"},
		{"POST " + mongo + "/query " + `{"find": {"sort": {"_id": -1}, "limit": 1}}`, "[null]"},
		{"POST " + mongo + "/query " + `{"find": {"projection": {"_id": 0}}}`, "[false,false,false,false]"},
		{"POST " + mongo + "/query " + `{"find": {"projection": {"_id": {"$add": [1, 0]}}}}`,
			"[false,false,false,false]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$sort": {"_id": -1}}, {"$project": {"at": 1}}]}`,
			"[null,+3600,+40,+90]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$unwind": "$_id"}, {"$set": {"a": 1}}]}`,
			"[false,false,false,false]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$set": {"_id": 1}}]}`, "[false,false,false,false]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$unset": ["_id.x"]}]}`, "[false,false,false,false]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$unset": "at"}]}`, "[+90,+40,+3600,null]"},
		{"POST " + mongo + "/query " + `{"pipeline": [{"$group": {"_id": 1}}]}`, "[false]"},
	} {
		line, body, _ := strings.Cut(c.request, " {")
		if body != "" {
			body = strings.TrimSuffix(body, "}") + `, "lifetimes": true}`
			c.request = line + "\n{" + body
		}
		r, response, text := s.send(t, c.request)
		checkAgainstDocument(t, r, response, text)
		if got := livesIn(t, s, text); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.request, got, c.want, text)
		}
	}
}

// containersOfLives has an item for each rule of lifetime.
func containersOfLives(t *testing.T, s *adminStory) {
	t.Helper()
	for _, given := range []string{
		"POST /databases\n" + `{"id": "shop"}`,
		"POST /databases/shop/containers\n" + `{"id": "nosql", "partitionKey": {"paths": ["/pk"]}, "defaultTtl": 3600}`,
		"POST /databases/shop/containers/nosql/items\n" + `{"id": "a", "pk": "p"}`,
		"POST /databases/shop/containers/nosql/items\n" + `{"id": "b", "pk": "p", "ttl": 60}`,
		"POST /databases/shop/containers/nosql/items\n" + `{"id": "c", "pk": "q", "ttl": -1}`,
		"POST /databases/shop/containers\n" + `{"id": "property", "partitionKey": {"paths": ["/pk"]},
			"defaultTtl": 100, "ttlPropertyPath": "/from"}`,
		"POST /databases/shop/containers/property/items\n" + `{"id": "a", "pk": "p", "from": 1772367400}`,
		"POST /databases/shop/containers/property/items\n" + `{"id": "b", "pk": "p", "from": 1772367400, "ttl": 10}`,
		"POST /databases/shop/containers\n" + `{"id": "mongo", "dialect": "mongodb", "defaultTtl": 3600,
			"indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 30}]}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": 1, "at": {"$date": "2026-03-01T12:01:00Z"}}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": 2, "at": {"$date": "2026-03-01T12:01:00Z"}, "ttl": 40}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": 3}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": 4, "ttl": -1}`,
	} {
		if _, response, body := s.send(t, given); response.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s", given, response.StatusCode, body)
		}
	}
}

// livesIn shows the lifetimes in an answer, relative to its instant; "" if there are none.
func livesIn(t *testing.T, s *adminStory, body []byte) string {
	t.Helper()
	var sent struct {
		Items, Lifetimes []json.RawMessage
		Now              *int64
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if sent.Lifetimes == nil {
		return ""
	}
	if sent.Now == nil || *sent.Now != s.n.clock.Now().Unix() || len(sent.Items) != len(sent.Lifetimes) {
		t.Errorf("%s: of another instant, or not one for each row", body)
		return ""
	}
	var out []string
	for _, raw := range sent.Lifetimes {
		var at int64
		if text := string(raw); json.Unmarshal(raw, &at) != nil || text == "null" {
			out = append(out, text)
			continue
		}
		out = append(out, fmt.Sprintf("+%d", at-*sent.Now))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// The clock moves on after a query has read its rows and before their lifetimes are looked up.
func TestNoRowIsShownAfterItsEnd(t *testing.T) {
	s := newAdminStory(t, Options{})
	containersOfLives(t, s)
	serve, moves := s.n.local.serve, 0
	s.n.local.serve = func(w http.ResponseWriter, r *http.Request) error {
		err := serve(w, r)
		if moves++; moves == 1 {
			_, moved := s.n.Move(r.Context(), func(now time.Time) time.Time { return now.Add(time.Minute) })
			if moved != nil {
				t.Error(moved)
			}
		}
		return err
	}
	for _, reclaim := range []bool{false, true} {
		moves = 0
		s.n.reaper.Pause()
		if reclaim {
			s.n.reaper.Resume()
		}
		_, response, body := s.send(t, "POST /databases/shop/containers/nosql/items?upsert=true\n"+
			`{"id": "b", "pk": "p", "ttl": 60}`)
		if response.StatusCode >= 300 {
			t.Fatalf("%s", body)
		}
		moves = 0
		_, _, body = s.send(t, "POST /databases/shop/containers/nosql/query\n"+
			`{"sql": "SELECT * FROM c", "lifetimes": true}`)
		if strings.Contains(string(body), `"b"`) || strings.Count(string(body), `"_rid"`) != 2 {
			t.Errorf("reclaimed: %v, the answer after the end: %s", reclaim, body)
		}
	}
}
