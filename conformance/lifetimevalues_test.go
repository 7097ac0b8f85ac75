package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What may stand in an item's ttl while TTL is on, and what is refused.
var (
	goodTTLs = []string{"1", "20", "-1", "2147483647", "20.0", "2e1"}
	badTTLs  = []string{"null", "0", "-2", "-10", "2147483648", "20.5", `"20"`, "true", "{}", "[]"}
)

const remedy = "Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means " +
	"never expire."

// wantRefusal requires the cloud's 400 for a bad ttl.
func wantRefusal(t testing.TB, what, property, value string, a answer) {
	t.Helper()
	message, _ := a.object()["message"].(string)
	if a.status != http.StatusBadRequest || a.object()["code"] != "BadRequest" ||
		!strings.Contains(message, "The input "+property+" '") || !strings.Contains(message, remedy) {
		t.Errorf("%s: %d %s, want 400 about %s", what, a.status, a.body, property)
	}
	if (value == "0" || value == "-10" || value == "null") && !strings.Contains(message, "'"+value+"' is invalid. ") {
		t.Errorf("%s: the message does not quote %s: %s", what, value, message)
	}
}

func TestItemTTLValues(t *testing.T) {
	b := lives(t, virtual(t), ptr(int32(10)))
	s, docs := b.server, b.path+"/docs"
	upsert := header{"x-ms-documentdb-is-upsert", "True"}
	batch := []header{{"x-ms-cosmos-is-batch-request", "True"}, {"x-ms-cosmos-batch-atomic", "True"}, keyed("p")}
	ways := map[string]func(ttl string) answer{
		"create": func(ttl string) answer {
			return s.do(t, "POST", docs, `{"id":"c","pk":"p","ttl":`+ttl+`}`, keyed("p"))
		},
		"upsert that creates": func(ttl string) answer {
			return s.do(t, "POST", docs, `{"id":"u","pk":"p","ttl":`+ttl+`}`, keyed("p"), upsert)
		},
		"upsert that replaces": func(ttl string) answer {
			return s.do(t, "POST", docs, `{"id":"kept","pk":"p","ttl":`+ttl+`}`, keyed("p"), upsert)
		},
		"replace": func(ttl string) answer {
			return s.do(t, "PUT", docs+"/kept", `{"id":"kept","pk":"p","ttl":`+ttl+`}`, keyed("p"))
		},
		"patch set": func(ttl string) answer {
			return s.do(t, "PATCH", docs+"/kept", `{"operations":[{"op":"set","path":"/ttl","value":`+ttl+`}]}`,
				keyed("p"))
		},
		"patch add": func(ttl string) answer {
			return s.do(t, "PATCH", docs+"/kept", `{"operations":[{"op":"add","path":"/ttl","value":`+ttl+`}]}`,
				keyed("p"))
		},
	}
	for way, write := range ways {
		t.Run(way, func(t *testing.T) {
			for _, ttl := range badTTLs {
				kept := b.create(t, item{"id": "kept"})
				wantRefusal(t, way+" "+ttl, "ttl", ttl, write(ttl))
				if _, now := b.read(t, "kept"); now["_etag"] != kept["_etag"] {
					t.Errorf("%s: a refused write changed the item: %v", ttl, now)
				}
				empty(t, b)
			}
			for _, ttl := range goodTTLs {
				b.create(t, item{"id": "kept"})
				if a := write(ttl); a.status/100 != 2 {
					t.Errorf("%s: %d %s", ttl, a.status, a.body)
				}
				empty(t, b)
			}
		})
	}
	t.Run("batch", func(t *testing.T) {
		for _, ttl := range badTTLs {
			a := s.do(t, "POST", docs, `[{"operationType":"Create","resourceBody":{"id":"first","pk":"p"}},
				{"operationType":"Create","resourceBody":{"id":"second","pk":"p","ttl":`+ttl+`}}]`, batch...)
			if a.status != http.StatusMultiStatus || !strings.Contains(string(a.body), `"statusCode":424`) ||
				!strings.Contains(string(a.body), `"statusCode":400`) {
				t.Errorf("ttl %s in a batch: %d %s", ttl, a.status, a.body)
			}
			if got, _ := b.read(t, "first"); got != http.StatusNotFound {
				t.Errorf("ttl %s in a batch: the first operation was applied", ttl)
			}
		}
	})
	t.Run("patch that lands on a bad value", func(t *testing.T) {
		b.create(t, item{"id": "i", "ttl": 5})
		wantRefusal(t, "increment to zero", "ttl", "0",
			s.do(t, "PATCH", docs+"/i", `{"operations":[{"op":"incr","path":"/ttl","value":-5}]}`, keyed("p")))
		s.advance(t, 4*time.Second)
		removed := s.do(t, "PATCH", docs+"/i", `{"operations":[{"op":"remove","path":"/ttl"}]}`, keyed("p"))
		if removed.status != http.StatusOK {
			t.Fatalf("remove ttl: %d %s", removed.status, removed.body)
		}
		s.advance(t, 9*time.Second)
		b.wantLiving(t, "9 s after the patch removed ttl", []string{"i"}, []string{"i"})
		s.advance(t, time.Second)
		b.wantLiving(t, "10 s after the patch removed ttl", []string{"i"}, nil)
	})
	t.Run("other names are ordinary", func(t *testing.T) {
		made := s.do(t, "POST", docs, `{"id":"o","pk":"p","TTL":0,"a":{"ttl":0},"timeToLive":0,"_ttl":"x"}`, keyed("p"))
		if made.status != http.StatusCreated {
			t.Errorf("%d %s", made.status, made.body)
		}
		s.advance(t, 9*time.Second)
		b.wantLiving(t, "second 9", nil, []string{"o"})
		s.advance(t, time.Second)
		b.wantLiving(t, "second 10", nil, nil)
	})
}

// empty empties the container.
func empty(t testing.TB, b *box) {
	t.Helper()
	for _, id := range ids(b.server.do(t, "GET", b.path+"/docs", nil)) {
		_, err := b.DeleteItem(within(t, patience), partitionP, id, nil)
		ok(t, "delete "+id, err)
	}
}

// While TTL is off the ttl of an item is not looked at (T-21, T-22, A-04); a bad
// one that is there when TTL comes on counts as absent.
func TestDormantTTLValues(t *testing.T) {
	b := lives(t, virtual(t), nil)
	var all []string
	for i, ttl := range append(badTTLs, "2147483647", "-1", "3") {
		id := fmt.Sprintf("%d: %s", i, strings.NewReplacer(`"`, "'").Replace(ttl))
		made := b.server.do(t, "POST", b.path+"/docs", fmt.Sprintf(`{"id":%q,"pk":"p","ttl":%s}`, id, ttl), keyed("p"))
		if made.status != http.StatusCreated {
			t.Errorf("ttl %s with TTL off: %d %s", ttl, made.status, made.body)
			continue
		}
		if !strings.Contains(string(made.body), `"ttl":`+ttl) {
			t.Errorf("ttl %s was stored as %s", ttl, made.body)
		}
		if made.header.Get("x-mayfly-hint") == "" {
			t.Errorf("ttl %s does nothing here, and no x-mayfly-hint says so", ttl)
		}
		all = append(all, id)
	}
	b.server.advance(t, 5*time.Second)
	b.wantLiving(t, "off", all, all)
	b.setPolicy(t, ptr(int32(10)))
	good := all[:len(all)-1] // the last has 3 s, which are over
	b.wantLiving(t, "on, second 5", all, good)
	b.server.advance(t, 5*time.Second)
	b.wantLiving(t, "on, second 10", all, all[len(badTTLs):len(all)-1])
}

func TestDefaultTTLValues(t *testing.T) {
	s := shared(t)
	db := newDatabase(t, s)
	colls := "dbs/" + db.ID() + "/colls"
	const key = `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`
	made := s.do(t, "POST", colls, `{"id":"replaced","defaultTtl":77,`+key+`}`)
	if made.status != http.StatusCreated {
		t.Fatalf("create: %d %s", made.status, made.body)
	}
	echo := map[string]any{"": nil, "null": nil, "-1": -1.0, "1": 1.0, "2147483647": 2147483647.0, "60.0": 60.0,
		"6e1": 60.0}
	for value, want := range echo {
		member := ""
		if value != "" {
			member = `"defaultTtl":` + value + ","
		}
		id := "c" + strings.NewReplacer(".", "_").Replace(value)
		for what, a := range map[string]answer{
			"create":  s.do(t, "POST", colls, `{"id":"`+id+`",`+member+key+`}`),
			"replace": s.do(t, "PUT", colls+"/replaced", `{"id":"replaced",`+member+key+`}`),
			"read":    s.do(t, "GET", colls+"/"+id, nil),
		} {
			got, has := a.object()["defaultTtl"]
			if a.status/100 != 2 || got != want || has != (want != nil) {
				t.Errorf("%s with defaultTtl %q: %d, echoed %v, want %v\n%s", what, value, a.status, got, want, a.body)
			}
		}
	}
	if a := s.do(t, "PUT", colls+"/replaced", `{"id":"replaced","defaultTtl":77,`+key+`}`); a.status != http.StatusOK {
		t.Fatalf("replace: %d %s", a.status, a.body)
	}
	for _, value := range []string{"0", "-2", "-10", "2147483648", "1.5", `"60"`, "true", "{}", "[]"} {
		wantRefusal(t, "create with "+value, "defaultTtl", value,
			s.do(t, "POST", colls, `{"id":"bad","defaultTtl":`+value+`,`+key+`}`))
		wantRefusal(t, "replace with "+value, "defaultTtl", value,
			s.do(t, "PUT", colls+"/replaced", `{"id":"replaced","defaultTtl":`+value+`,`+key+`}`))
	}
	if got := s.do(t, "GET", colls+"/replaced", nil).object()["defaultTtl"]; got != 77.0 {
		t.Errorf("default ttl after refused replaces: %v, want 77", got)
	}
	if got := s.do(t, "GET", colls+"/bad", nil).status; got != http.StatusNotFound {
		t.Errorf("a refused create left something: %d", got)
	}
	none := s.do(t, "POST", colls,
		`{"id":"none","defaultTtl":5,"indexingPolicy":{"indexingMode":"none","automatic":false},`+key+`}`)
	if message, _ := none.object()["message"].(string); none.status != http.StatusBadRequest ||
		!strings.Contains(message,
			"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection") {
		t.Errorf("indexing none with a default (T-66): %d %s", none.status, none.body)
	}
	path := s.do(t, "POST", colls, `{"id":"path","ttlPropertyPath":"/born",`+key+`}`)
	if path.status != http.StatusBadRequest {
		t.Errorf("ttlPropertyPath without a default (A-25): %d %s", path.status, path.body)
	}
}

func TestExpiresAtHeader(t *testing.T) {
	s := virtual(t)
	b := lives(t, s, ptr(int32(10)))
	for body, ttl := range map[string]int64{
		`{"id":"a","pk":"p"}`:           10,
		`{"id":"b","pk":"p","ttl":20}`:  20,
		`{"id":"c","pk":"p","ttl":-1}`:  0,
		`{"id":"d","pk":"p","ttl":300}`: 300,
	} {
		made := s.do(t, "POST", b.path+"/docs", body, keyed("p"))
		got := made.header.Get("x-mayfly-expires-at")
		if ttl == 0 {
			if got != "" {
				t.Errorf("%s: expires at %s", body, got)
			}
			continue
		}
		deadline := item(made.object()).stamp() + ttl
		read := s.do(t, "GET", b.path+"/docs/"+made.object()["id"].(string), nil, keyed("p"))
		if got == "" || got != read.header.Get("x-mayfly-expires-at") {
			t.Errorf("%s: written %q, read %q", body, got, read.header.Get("x-mayfly-expires-at"))
		}
		if !meansSecond(got, deadline) {
			t.Errorf("%s: expires at %s, want second %d", body, got, deadline)
		}
	}
}

func TestHintAboutMilliseconds(t *testing.T) {
	b := lives(t, shared(t), ptr(int32(10)))
	for ttl, want := range map[int]bool{1_700_000_000: true, 86_400: false} {
		made := b.server.do(t, "POST", b.path+"/docs", item{"id": fmt.Sprint(ttl), "pk": "p", "ttl": ttl}, keyed("p"))
		if got := made.header.Get("x-mayfly-hint"); made.status != http.StatusCreated || (got != "") != want {
			t.Errorf("ttl %d: %d, hint %q", ttl, made.status, got)
		}
	}
}

// meansSecond accepts the common ways to write an instant.
func meansSecond(text string, second int64) bool {
	if text == fmt.Sprint(second) {
		return true
	}
	for _, layout := range []string{time.RFC3339, time.RFC1123, http.TimeFormat} {
		if at, err := time.Parse(layout, text); err == nil && at.Unix() == second {
			return true
		}
	}
	return false
}

// The base of a deadline may be a property of the item.
func TestTTLPropertyPath(t *testing.T) {
	s := virtual(t)
	db := newDatabase(t, s)
	made := s.do(t, "POST", "dbs/"+db.ID()+"/colls",
		`{"id":"born","defaultTtl":100,"ttlPropertyPath":"/born","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`)
	if made.status != http.StatusCreated || made.object()["ttlPropertyPath"] != "/born" {
		t.Fatalf("create: %d %s", made.status, made.body)
	}
	c, err := db.NewContainer("born")
	ok(t, "client", err)
	b := &box{c, s, "dbs/" + db.ID() + "/colls/born"}
	now := b.create(t, item{"id": "probe"}).stamp()
	b.create(t, item{"id": "old", "born": now - 90})
	b.create(t, item{"id": "text", "born": "yesterday"})
	all := []string{"probe", "old", "text"}
	s.advance(t, 9*time.Second)
	b.wantLiving(t, "second 9", all, all)
	s.advance(t, time.Second)
	b.wantLiving(t, "second 10", all, []string{"probe", "text"})
	s.advance(t, 90*time.Second)
	b.wantLiving(t, "second 100", all, nil)
}
