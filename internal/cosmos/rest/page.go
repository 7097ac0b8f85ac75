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

// A PageInfo is what the page for browsers shows to everybody, in addition to the endpoint. Empty members are left out.
type PageInfo struct {
	Version   string
	Key       string // the account key, if it is a well-known one
	Mongo     string // the connection string for MongoDB
	MongoAuth bool   // MongoDB clients must authenticate
	Clock     string // the time of a virtual clock
}

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pagePolicy is a Content-Security-Policy that allows only the page's own style.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri " +
		"'none'; form-action 'none'; frame-ancestors 'none'"
}()

// servePage serves the page for browsers.
func (a *API) servePage(w http.ResponseWriter, r *http.Request) {
	var pageInfo PageInfo
	if a.pageInfo != nil {
		pageInfo = a.pageInfo()
	}
	var text bytes.Buffer
	err := pageTemplate.Execute(&text, struct {
		PageInfo
		Style     template.CSS
		Endpoint  string
		Authority bool
	}{pageInfo, template.CSS(pageStyle), a.endpointOf(r), a.ca != nil})
	if err != nil {
		a.log.Error("cannot render the page for browsers", "error", err)
		http.Error(w, "Internal error, see the log.", http.StatusInternalServerError)
		return
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Length": strconv.Itoa(text.Len()),
		"Content-Security-Policy": pagePolicy,
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Vary": "Accept, Authorization",
	} {
		w.Header().Set(name, value)
	}
	w.Write(text.Bytes()) // an error means that the browser has gone away
}

// wantsPage reports whether a request for the account comes from a browser: it has no credentials and prefers HTML to
// JSON. SDKs send an Authorization header, and accept JSON, anything, or do not say.
func wantsPage(r *http.Request) bool {
	if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead ||
		r.Header.Get("Authorization") != "" {
		return false
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return quality(accept, "text", "html") > quality(accept, "application", "json")
}

// quality is the weight from 0 to 1 that an Accept header gives a media type: that of the most specific range that
// matches (RFC 9110, 12.5.1). Without an Accept header all types have the same weight.
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

// weight parses the q parameter of a media range. A malformed one counts as 0.
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
