package rest

import (
	"net/http"
	"strings"
	"testing"
)

// TestEmulatorScripts sends the requests of scripts for the emulators, without credentials.
func TestEmulatorScripts(t *testing.T) {
	probes := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("probe")) })
	d := newTestAPI(t, func(o *Options) {
		o.CA, o.Probes, o.Public = func() []byte { return []byte("PEM") }, probes, true
	})
	for _, c := range []struct{ script, method, path, answer string }{
		{"learn.microsoft.com/azure/cosmos-db/how-to-develop-emulator: curl --insecure", "GET",
			"/_explorer/emulator.pem", "PEM"},
		{"testcontainers/testcontainers-java: modules/azure/.../KeyStoreBuilder.java", "GET",
			"/_explorer/emulator.pem", "PEM"},
		{"Azure/azure-cosmos-db-emulator-docker: issue 103, a health check of Compose: curl -f -k", "GET",
			"/_explorer/emulator.pem", "PEM"},
		{"testcontainers/testcontainers-python: modules/cosmosdb/testcontainers/cosmosdb/_emulator.py", "GET",
			"/_explorer/index.html", "<title>mayfly</title>"},
		{"a wait strategy for testcontainers-dotnet: https://localhost/_explorer/index.html", "GET",
			"/_explorer/index.html", "<title>mayfly</title>"},
		{"pikami/cosmium: README.md", "GET", "/_explorer/", "<title>mayfly</title>"},
		{"testcontainers/testcontainers-dotnet: src/Testcontainers.CosmosDb/CosmosDbBuilder.cs", "GET", "/",
			`"writableLocations"`},
		{"learn.microsoft.com/azure/cosmos-db/emulator-linux: health probes", "GET", "/alive", "probe"},
		{"learn.microsoft.com/azure/cosmos-db/emulator-linux: health probes", "GET", "/ready", "probe"},
		{"learn.microsoft.com/azure/cosmos-db/emulator-linux: health probes", "GET", "/status", "probe"},
		{"a probe with HEAD", "HEAD", "/ready", ""},
	} {
		if a := d.send(newRequest(c.method, c.path, "")); a.status != 200 || !strings.Contains(a.text, c.answer) {
			t.Errorf("%s: %s %s is %d %q, want %q", c.script, c.method, c.path, a.status, a.text, c.answer)
		}
	}
	// .NET Aspire asks with the SDK: dotnet/aspire: src/Aspire.Hosting.Azure.CosmosDB/AzureCosmosDBExtensions.cs,
	// ReadAccountAsync.
	d.do("GET", "/", "").want(200).says(`"writableLocations"`)

	for _, path := range []string{"/_explorer/emulator.pem", "/_explorer/index.html", "/ready"} {
		d.send(newRequest("POST", path, "")).want(405)
	}
	for _, path := range []string{"/_explorer/other", "/readyz", "/ready/x", "/alive/"} {
		if a := d.send(newRequest("GET", path, "")); a.status == 200 {
			t.Errorf("%s is answered: %s", path, a.text)
		}
	}
	d.send(newRequest("GET", "/dbs", "")).want(401) // only the account is open
}

// TestEmulatorCertificate checks the certificate that a client has to trust.
func TestEmulatorCertificate(t *testing.T) {
	text := func(s string) func() []byte { return func() []byte { return []byte(s) } }
	for _, c := range []struct {
		name   string
		change func(*Options)
		status int
		text   string
	}{
		{"mayfly's own", func(o *Options) { o.CA = text("CA") }, 200, "CA"},
		{"the owner's", func(o *Options) { o.Certificate = text("CHAIN") }, 200, "CHAIN"},
		{"plain http", func(*Options) {}, 404, "plain HTTP"},
	} {
		a := newTestAPI(t, c.change).send(newRequest("GET", "/_explorer/emulator.pem", ""))
		if a.status != c.status || !strings.Contains(a.text, c.text) {
			t.Errorf("%s: %d %q", c.name, a.status, a.text)
		}
	}
}

// TestAccountWantsCredentials checks that the account needs credentials unless the key is well known.
func TestAccountWantsCredentials(t *testing.T) {
	newTestAPI(t).send(newRequest("GET", "/", "")).want(401)
	d := newTestAPI(t, func(o *Options) { o.Public = true })
	d.send(newRequest("GET", "/", "")).want(200)
	r := newRequest("GET", "/", "")
	r.Header.Set("Authorization", "type=master&ver=1.0&sig=wrong")
	d.send(r).want(401)
}

func TestPageIsForBrowsers(t *testing.T) {
	const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"
	for _, c := range []struct {
		name, accept string
		page         bool
	}{
		{"Chromium", chromium, true},
		{"Firefox and Safari", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"HTML alone", "text/html", true},
		{"HTML in capitals", "TEXT/HTML", true},
		{"any text", "text/*", true},
		{"none", "", false},
		{"curl", "*/*", false},
		{"SDKs", "application/json", false},
		{"both alike", "text/html, application/json", false},
		{"JSON rather", "text/html;q=0.5, application/json", false},
		{"JSON rather, by a range", "text/html;q=0.5, application/*;q=0.6", false},
		{"HTML rather", "application/json;q=0.5, text/html;q=0.6", true},
		{"HTML refused", "text/html;q=0, */*", false},
		{"HTML as good as all", "text/html;q=0.8, */*;q=0.8", false},
		{"another charset", "text/html;charset=utf-8;q=0.9, */*;q=0.1", true},
		{"weight that is none", "text/html;q=x, */*;q=0.1", false},
		{"weight too large", "text/html;q=7, */*;q=0.1", false},
		{"not a number", "text/html;q=NaN", false},
		{"images", "image/*", false},
	} {
		d := newTestAPI(t, func(o *Options) { o.Public = true })
		r := newRequest("GET", "/", "")
		r.Header.Set("Accept", c.accept)
		if a := d.send(r).want(200); strings.HasPrefix(a.text, "<!DOCTYPE html>") != c.page {
			t.Errorf("%s: page %v, got %s", c.name, c.page, a.text)
		}
		signed := d.do("GET", "/", "", "Accept", c.accept).want(200)
		if !strings.HasPrefix(signed.text, `{"_self"`) || signed.header.Get("Vary") != "" {
			t.Errorf("%s: a client with credentials gets %s", c.name, signed.text)
		}
	}
}

func TestPageSaysWhatItMay(t *testing.T) {
	show := func(front PageInfo, host string) answer {
		d := newTestAPI(t, func(o *Options) {
			o.CA, o.PageInfo = func() []byte { return nil },
				func() PageInfo { return front }
		})
		r := newRequest("GET", "/", "")
		r.Host = host
		r.Header.Set("Accept", "text/html")
		return d.send(r).want(200)
	}
	all := show(PageInfo{Version: "v1.2.3", Key: "the/key==", Mongo: "mongodb://localhost:27017/?replicaSet=globaldb",
		MongoAuth: true, Clock: "2026-03-01T12:00:00Z"}, "localhost:8081")
	for _, want := range []string{"v1.2.3", "AccountEndpoint=http://localhost:8081/;AccountKey=the/key==;",
		"mongodb://localhost:27017/?replicaSet=globaldb", "2026-03-01T12:00:00Z", `href="/_mayfly/ca.pem"`,
		"docs/clients.md"} {
		if !strings.Contains(all.text, want) {
			t.Errorf("no %q in\n%s", want, all.text)
		}
	}
	policy := all.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if strings.Contains(all.text, "<script") || strings.Contains(all.text, "src=") || strings.Contains(all.text,
		"ZgotmplZ") {
		t.Errorf("the page is\n%s", all.text)
	}
	little := show(PageInfo{}, `x"><script>alert(1)</script>`)
	for _, not := range []string{"<script", "mongodb:", "<dt>Clock", "AccountKey=C2y6"} {
		if strings.Contains(little.text, not) {
			t.Errorf("%q in\n%s", not, little.text)
		}
	}
}
