package rest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// A Front is what the page for browsers tells anybody who asks, besides the endpoint. Empty members are left out.
type Front struct {
	Version   string
	Key       string // the account key: only one that everybody knows
	Mongo     string // the connection string for MongoDB
	MongoAuth bool   // it asks clients who they are
	Clock     string // the time of a virtual clock
}

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pagePolicy lets a browser use nothing but the page's own style.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// servePage answers a browser.
func (d *Door) servePage(w http.ResponseWriter, r *http.Request) {
	var front Front
	if d.front != nil {
		front = d.front()
	}
	var text bytes.Buffer
	err := pageTemplate.Execute(&text, struct {
		Front
		Style     template.CSS
		Endpoint  string
		Authority bool
	}{front, template.CSS(pageStyle), d.endpointOf(r), d.ca != nil})
	if err != nil {
		d.log.Error("the page for browsers cannot be made", "error", err)
		http.Error(w, "Internal error, see the log.", http.StatusInternalServerError)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Length": strconv.Itoa(text.Len()), "Content-Security-Policy": pagePolicy,
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Vary": "Accept, Authorization",
	} {
		w.Header().Set(name, value)
	}
	w.Write(text.Bytes()) // a browser that is gone needs no answer
}

// wantsPage reports whether a request for the account comes from a browser: it has no credentials, and rather
// takes HTML than JSON. SDKs send an Authorization, and an Accept of JSON, of everything, or none.
func wantsPage(r *http.Request) bool {
	if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Authorization") != "" {
		return false
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return quality(accept, "text", "html") > quality(accept, "application", "json")
}

// quality is how much a client wants a media type, from 0 to 1: that of the range in its Accept that is
// closest to the type (RFC 9110, 12.5.1). Without an Accept all types are the same.
func quality(accept, kind, subkind string) (q float64) {
	closest := 0
	for part := range strings.SplitSeq(accept, ",") {
		span, parameters, _ := strings.Cut(part, ";")
		near := 0
		switch strings.ToLower(strings.TrimSpace(span)) {
		case kind + "/" + subkind:
			near = 3
		case kind + "/*":
			near = 2
		case "*/*":
			near = 1
		}
		if near > closest {
			closest, q = near, weight(parameters)
		}
	}
	return q
}

// weight reads the q among the parameters of a media range; one that is malformed counts as 0.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
