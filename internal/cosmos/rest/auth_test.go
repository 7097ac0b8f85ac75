package rest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/keyring"
)

// The example of the public page on access control:
// learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources.
const (
	exampleKey       = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw=="
	exampleDate      = "Thu, 27 Apr 2017 00:51:12 GMT"
	exampleSignature = "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu+c+c="
)

func exampleVerifier(t *testing.T) *verifier { return newVerifier(ringOf(t, exampleKey)) }

func ringOf(t testing.TB, key string) *keyring.Ring {
	ring, err := keyring.New(keyring.Options{Primary: key})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestSignatureOfPublicExample(t *testing.T) {
	k := exampleVerifier(t)
	r := newRequest("GET", "/dbs/ToDoList", "")
	e := &exchange{Request: r, sent: r.URL}
	must(t, e.find())
	if k.signed(e, exampleDate, exampleSignature) == nil {
		t.Fatal("the published signature is refused")
	}
	for _, sig := range []string{"", "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu-c-c=", strings.Repeat("A", 43) + "=",
		exampleSignature + exampleSignature} {
		if k.signed(e, exampleDate, sig) != nil {
			t.Errorf("the signature %q is accepted", sig)
		}
	}
}

func TestSignedLinks(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"My Db"}`).want(201)
	made := d.do("POST", "/dbs/My%20Db/colls", `{"id":"C%2B","partitionKey":{"paths":["/pk"]}}`).want(201)
	coll := made.str("_rid")
	db := d.do("GET", "/dbs/My%20Db", "").want(200).str("_rid")
	for _, c := range []struct {
		name, method, target, kind, link string
		status                           int
	}{
		{"account", "GET", "/", "", "", 200},
		{"feed of databases", "GET", "/dbs", "dbs", "", 200},
		{"feed of databases with a slash", "GET", "/dbs/", "dbs", "", 200},
		{"decoded name", "GET", "/dbs/My%20Db", "dbs", "dbs/My Db", 200},
		{"name as received", "GET", "/dbs/My%20Db", "dbs", "dbs/My%20Db", 200},
		{"lower case", "GET", "/dbs/My%20Db", "dbs", "dbs/my db", 200},
		{"name with a percent sign", "GET", "/dbs/My%20Db/colls/C%252B", "colls", "dbs/My Db/colls/C%2B", 200},
		{"type in upper case", "GET", "/dbs/My%20Db", "DBS", "dbs/My Db", 200},
		{"feed signs its parent", "GET", "/dbs/My%20Db/colls", "colls", "dbs/My Db", 200},
		{"feed of a container", "GET", "/dbs/My%20Db/colls/C%252B/docs", "docs", "dbs/My Db/colls/C%2B", 200},
		{"RID", "GET", "/dbs/" + db, "dbs", strings.ToLower(db), 200},
		{"RID of a container", "GET", "/dbs/" + db + "/colls/" + coll + "/", "colls", strings.ToLower(coll), 200},
		{"RID of a feed's parent", "GET", "/dbs/" + db + "/colls/" + coll + "/pkranges", "pkranges",
			strings.ToLower(coll), 200},
		{"offers", "GET", "/offers", "offers", "", 200},
		{"partition key delete", "POST", "/dbs/" + db + "/colls/" + coll + "/operations/partitionkeydelete",
			"partitionkey", "dbs/" + db + "/colls/" + coll, 400},
		{"other link", "GET", "/dbs/My%20Db", "dbs", "dbs/Other", 401},
		{"other type", "GET", "/dbs/My%20Db", "colls", "dbs/My Db", 401},
		{"parent of an item", "GET", "/dbs/My%20Db/colls/C%252B", "colls", "dbs/My Db", 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRequest(c.method, c.target, "")
			signLink(r, c.kind, c.link)
			d.send(r).want(c.status)
		})
	}
}

func TestAuthorizationFailures(t *testing.T) {
	d := newTestAPI(t)
	now := time.Now().UTC()
	at := func(skew time.Duration) string { return now.Add(skew).Format(http.TimeFormat) }
	good := masterToken(testKey, "GET", "dbs", "", at(0))
	for _, c := range []struct {
		name, header, date string
		status             int
		text               string
	}{
		{"none", "", at(0), 401, "Required Header authorization is missing."},
		{"good", good, at(0), 200, ""},
		{"not encoded", must2(url.PathUnescape(good)), at(0), 200, ""},
		{"other date", good, at(time.Second), 401, "Server used the following payload to sign"},
		{"other key", masterToken(exampleKey, "GET", "dbs", "", at(0)), at(0), 401, "The wrong key is being used"},
		{"other verb", masterToken(testKey, "PUT", "dbs", "", at(0)), at(0), 401, ""},
		{"14 minutes slow", masterToken(testKey, "GET", "dbs", "", at(-14*time.Minute)), at(-14 * time.Minute), 200,
			""},
		{"16 minutes slow", masterToken(testKey, "GET", "dbs", "", at(-16*time.Minute)), at(-16 * time.Minute), 403,
			"not valid at the current time"},
		{"16 minutes fast", masterToken(testKey, "GET", "dbs", "", at(16*time.Minute)), at(16 * time.Minute), 403, ""},
		{"date in lower case", masterToken(testKey, "GET", "dbs", "", strings.ToLower(at(0))), strings.ToLower(at(0)),
			200, ""},
		{"no date", good, "", 401, "x-ms-date is missing"},
		{"date of another form", masterToken(testKey, "GET", "dbs", "", now.Format(time.RFC3339)),
			now.Format(time.RFC3339), 401, "RFC 1123"},
		{"no form", "garbage", at(0), 401, "required format"},
		{"bad escape", "type%3Dmaster%ZZ", at(0), 401, "required format"},
		{"unknown type", "type=magic&ver=1.0&sig=AAAA", at(0), 401, "required format"},
		{"no signature", "type=master&ver=1.0&sig=", at(0), 401, "required format"},
		{"signature that is no base64", "type=master&ver=1.0&sig=%21%21", at(0), 401, ""},
		{"other version", "type=master&ver=2.0&sig=AAAA", at(0), 401, "required format"},
		{"very long", "type=master&ver=1.0&sig=" + strings.Repeat("A", maxAuthorization), at(0), 401,
			"required format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRequest("GET", "/dbs", "")
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			if c.date != "" {
				r.Header.Set("x-ms-date", c.date)
			}
			a := d.send(r).want(c.status).says(c.text)
			if c.status != 200 && (a.str("code") == "" || a.str("message") == "") {
				t.Errorf("no error body: %s", a.text)
			}
		})
	}
}

func must2(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// aadToken is a token as TestAAD of azcosmos makes it.
func aadToken(key string, from, to time.Time) string {
	b64 := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"tid":"EmulatorFederation","nbf":%d, "exp":%d,"aud":"https://localhost.localhost"}`,
		from.Unix(), to.Unix())
	return url.QueryEscape("type=aad&ver=1.0&sig=" + b64([]byte(`{"typ":"JWT","alg":"RS256"}`)) + "." +
		b64([]byte(claims)) + "." + b64([]byte(key)))
}

func TestAAD(t *testing.T) {
	d := newTestAPI(t)
	now := time.Now()
	for _, c := range []struct {
		name, header string
		status       int
	}{
		{"good", aadToken(testKey, now, now.Add(time.Hour)), 200},
		{"other key", aadToken(exampleKey, now, now.Add(time.Hour)), 401},
		{"expired", aadToken(testKey, now.Add(-2*time.Hour), now.Add(-time.Hour)), 403},
		{"not valid yet", aadToken(testKey, now.Add(time.Hour), now.Add(2*time.Hour)), 403},
		{"two parts", "type=aad&ver=1.0&sig=a.b", 401},
		{"no claims", "type=aad&ver=1.0&sig=a.b." + base64.RawURLEncoding.EncodeToString([]byte(testKey)), 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.send(newRequest("GET", "/dbs", "", "Authorization", c.header)).want(c.status)
		})
	}
}

func FuzzParseAuthorization(f *testing.F) {
	for _, text := range []string{
		"", "type=master&ver=1.0&sig=AAAA", "type%3Dmaster%26ver%3D1.0%26sig%3DAA%2B%3D",
		"type=resource&ver=1&sig=abc;", "type=aad&ver=1.0&sig=a.b.c", "type=&ver=1&sig=", "%",
		"TYPE=Master&VER=1.0&SIG=x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseAuthorization(text)
		if ok && (c.sig == "" || c.kind != "master" && c.kind != "aad" && c.kind != "resource") {
			t.Fatalf("%q is read as %+v", text, c)
		}
	})
}
