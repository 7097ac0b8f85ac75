package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
)

// maxSkew is the largest difference allowed between a request's date and the machine's clock.
const maxSkew = 15 * time.Minute

// maxAuthorization is the longest Authorization header that is parsed.
const maxAuthorization = 16 << 10

// A verifier checks credentials against the present keys of the account. It is safe for concurrent use.
type verifier struct {
	ring    *keyring.Ring
	signers atomic.Pointer[signers]
	last    atomic.Pointer[parsedDate] // the most recent date, already parsed
}

// signers are prepared for one set of keys, so that a request need not do it.
type signers struct {
	of   *keyring.Set
	each [len(keyring.Names)]keySigner
}

// A keySigner is one key of the account.
type keySigner struct {
	*keyring.Key
	tokens []byte // the key that signs resource tokens
	pool   *sync.Pool
}

// A signer is a reusable HMAC keyed with one of the account keys.
type signer struct {
	mac  hash.Hash
	text []byte
	sum  []byte
}

func newVerifier(ring *keyring.Ring) *verifier {
	v := &verifier{ring: ring}
	v.last.Store(new(parsedDate))
	return v
}

// keys gives the signers of the present keys.
func (v *verifier) keys() *signers {
	now := v.ring.Now()
	if s := v.signers.Load(); s != nil && s.of == now {
		return s
	}
	s := &signers{of: now}
	for i, k := range now {
		derive := hmac.New(sha256.New, k.Secret)
		derive.Write([]byte("mayfly resource tokens"))
		pool := &sync.Pool{New: func() any { return &signer{mac: hmac.New(sha256.New, k.Secret)} }}
		s.each[i] = keySigner{k, derive.Sum(nil), pool}
	}
	v.signers.Store(s)
	return s
}

// authenticate checks the credentials of a request and returns what they allow.
func (a *API) authenticate(e *exchange) (grant, error) {
	header := e.given(hAuthorization)
	if header == "" {
		return grant{}, gatewayFault(fault.Unauthorized,
			"Required Header authorization is missing. Ensure a valid Authorization token is passed.")
	}
	cred, ok := parseAuthorization(header)
	if !ok {
		return grant{}, gatewayFault(fault.Unauthorized,
			"Authorization header doesn't confirm to the required format. Please verify and try again.")
	}
	switch cred.kind {
	case "master":
		key, err := a.verifier.checkMaster(e, cred.sig)
		return grant{whole: true, key: key}, err
	case "aad":
		key, err := a.verifier.checkAAD(cred.sig)
		if err == nil && key.ReadOnly() && !e.onlyReads() {
			return grant{}, errReadOnlyKey
		}
		return grant{whole: true, key: key}, err
	}
	return a.checkToken(cred.sig, e.at)
}

// onlyReads reports whether a request is one that a read-only key allows: it changes nothing, and is not about
// permissions, whose answers have resource tokens.
// https://learn.microsoft.com/previous-versions/azure/cosmos-db/how-to-obtain-keys
func (e *exchange) onlyReads() bool {
	reads := e.Method == http.MethodGet || e.Method == http.MethodPost && e.isQuery()
	return reads && e.path.segment[4] != "permissions"
}

var errReadOnlyKey = gatewayFault(fault.Unauthorized,
	"The input authorization token can't serve the request. The wrong "+
		"key is being used: it is a read-only key, which allows neither writes nor reading permissions.")

// A credential is a parsed Authorization header.
type credential struct{ kind, sig string }

// parseAuthorization parses `type=master&ver=1.0&sig=…`, percent-encoded or not. A plus sign is not decoded to a
// space: it is a base64 digit.
func parseAuthorization(header string) (c credential, ok bool) {
	if len(header) > maxAuthorization {
		return c, false
	}
	text, err := url.PathUnescape(header)
	if err != nil {
		return c, false
	}
	text, ok = cutPrefixFold(text, "type=")
	if !ok {
		return c, false
	}
	kind, text, _ := strings.Cut(text, "&")
	if text, ok = cutPrefixFold(text, "ver=1"); !ok {
		return c, false
	}
	version, sig, ok := strings.Cut(text, "&")
	if !ok || version != "" && version != ".0" {
		return c, false
	}
	if c.sig, ok = cutPrefixFold(sig, "sig="); !ok || c.sig == "" {
		return c, false
	}
	c.kind = strings.ToLower(kind)
	return c, c.kind == "master" || c.kind == "aad" || c.kind == "resource"
}

func cutPrefixFold(text, prefix string) (rest string, ok bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// checkMaster verifies the signature of a request and that its date is recent, and returns the key that has signed it.
// A read-only key is a wrong one for a request that writes, with status 401 as in the service:
// https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-unauthorized
func (v *verifier) checkMaster(e *exchange, sig string) (*keyring.Key, error) {
	date := e.given(hXDate)
	if date == "" {
		date = e.given(hDate)
	}
	if date == "" {
		return nil, gatewayFault(fault.Unauthorized,
			"Authorization token mandates Date headers. Please pass in RFC 1123 "+
				"style date format. The header x-ms-date is missing.")
	}
	key := v.signed(e, date, sig)
	if key == nil {
		return nil, gatewayFault(fault.Unauthorized,
			"The input authorization token can't serve the request. The wrong key "+
				"is being used or the expected payload is not built as per the protocol. "+
				"For more info: https://aka.ms/cosmosdb-tsg-unauthorized. Server used the following payload to sign: "+
				"'%s'",
			clip(string(appendPayload(nil, e.Method, e.path.resourceType(), e.signedLink(), date))))
	}
	if key.ReadOnly() && !e.onlyReads() {
		return nil, errReadOnlyKey
	}
	return key, v.checkDate(date, clock.Wall())
}

// A parsedDate is a parsed date header. A client sends the same text for a whole second, so the last result is kept.
type parsedDate struct {
	text string
	at   time.Time
}

func (v *verifier) checkDate(date string, now time.Time) error {
	last := v.last.Load()
	if last.text != date {
		at, err := parseDate(date)
		if err != nil {
			return errDate
		}
		last = &parsedDate{strings.Clone(date), at}
		v.last.Store(last)
	}
	if skew := now.Sub(last.at); skew > maxSkew || skew < -maxSkew {
		return expired(last.at.Add(-maxSkew), last.at.Add(maxSkew), now)
	}
	return nil
}

var errDate = gatewayFault(fault.Unauthorized,
	"The input date header is invalid format. Please pass in RFC 1123 style date format, in the header x-ms-date.")

// parseDate parses `Thu, 27 Apr 2017 00:51:12 GMT` in any letter case: old clients send it in lower case.
func parseDate(text string) (time.Time, error) {
	if t, err := time.Parse(http.TimeFormat, text); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC1123, strings.ToUpper(text))
}

func expired(from, to, now time.Time) error {
	return gatewayFault(fault.Forbidden,
		"The authorization token is not valid at the current time.\r\nPlease create another token and retry\r\n"+
			"(token start time: %s, token expiry time: %s, current server time: %s).",
		from.UTC().Format(http.TimeFormat), to.UTC().Format(http.TimeFormat), now.UTC().Format(http.TimeFormat))
}

// signed returns the key with which sig signs the request, nil if there is none. SDKs sign different forms of the
// resource link, so it tries each: the decoded path, the path as received, the last RID in lower case, the path in
// lower case, the whole path of an operation, and the path with the trailing slash that an id may have.
func (v *verifier) signed(e *exchange, date, sig string) *keyring.Key {
	if len(sig) != base64.StdEncoding.EncodedLen(sha256.Size) {
		return nil
	}
	var buf [sha256.Size + 1]byte // one byte more, so that Decode never runs out of space
	n, err := base64.StdEncoding.Decode(buf[:], []byte(sig))
	if err != nil || n != sha256.Size {
		return nil
	}
	keys := v.keys()
	for i := range keys.each { // the form that most SDKs sign, before the others
		if keys.each[i].signed(buf[:n], e, date, false) {
			return keys.each[i].Key
		}
	}
	for i := range keys.each {
		if keys.each[i].signed(buf[:n], e, date, true) {
			return keys.each[i].Key
		}
	}
	return nil
}

// signed reports whether want signs the request with the key. all tries all forms of the link.
func (k *keySigner) signed(want []byte, e *exchange, date string, all bool) bool {
	s := k.pool.Get().(*signer)
	defer k.pool.Put(s)
	kind, link := e.path.resourceType(), e.signedLink()
	if !all {
		return s.matches(want, e.Method, kind, link, date)
	}
	for _, kind := range signedTypes(kind) {
		for _, link := range [...]string{link, e.receivedLink(), lastRID(link), strings.ToLower(link),
			e.operationLink(link), e.fullLink(link)} {
			if s.matches(want, e.Method, kind, link, date) {
				return true
			}
		}
	}
	return false
}

// operationTypes are the resource types under which SDKs sign an operation on a container.
var operationTypes = []string{"operations", "partitionkey", "colls"}

// signedTypes are the names under which SDKs sign a resource type.
func signedTypes(kind string) []string {
	if kind == "operations" {
		return operationTypes
	}
	return []string{kind}
}

func (s *signer) matches(want []byte, method, kind, link, date string) bool {
	s.text = appendPayload(s.text[:0], method, kind, link, date)
	s.mac.Reset()
	s.mac.Write(s.text)
	s.sum = s.mac.Sum(s.sum[:0])
	return hmac.Equal(s.sum, want)
}

// appendPayload appends the text that a master key signs:
// learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources.
func appendPayload(dst []byte, method, kind, link, date string) []byte {
	dst = appendLower(dst, method)
	dst = append(dst, '\n')
	dst = append(dst, kind...)
	dst = append(dst, '\n')
	dst = append(dst, link...)
	dst = append(dst, '\n')
	dst = appendLower(dst, date)
	return append(dst, "\n\n"...)
}

func appendLower(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// resourceType is the last collection segment of a path, or "" for the account.
func (p *path) resourceType() string {
	switch {
	case p.count == 0:
		return ""
	case p.count%2 == 0:
		return p.segment[p.count-2]
	}
	return p.segment[p.count-1]
}

// signedLink is the link that a client signs: the addressed resource, or the parent of a feed, decoded and without
// leading or trailing slashes.
func (e *exchange) signedLink() string { return parentLink(e.URL.Path, &e.path) }

// receivedLink is signedLink before decoding, with any doubled slashes that the client sent.
func (e *exchange) receivedLink() string { return parentLink(e.sent.EscapedPath(), &e.path) }

// operationLink is the whole path if the request is an operation on a container, else link.
func (e *exchange) operationLink(link string) string {
	if e.path.resourceType() == "operations" {
		return strings.Trim(e.URL.Path, "/")
	}
	return link
}

// fullLink is the link with its trailing slash if that slash belongs to an id, else link.
func (e *exchange) fullLink(link string) string {
	if strings.HasSuffix(e.name, "/") {
		return strings.TrimPrefix(e.URL.Path, "/")
	}
	return link
}

func parentLink(text string, p *path) string {
	text = strings.TrimSuffix(strings.TrimLeft(text, "/"), "/")
	if p.resourceType() == "operations" {
		text = cutLast(text)
	}
	if p.count%2 == 1 || p.resourceType() == "operations" {
		return cutLast(text)
	}
	return text
}

func cutLast(text string) string {
	return text[:max(0, strings.LastIndexByte(text, '/'))]
}

// lastRID is the last segment of a link in lower case if it is a RID, else link. Offers are addressed by RID only.
func lastRID(link string) string {
	owner := cutLast(link)
	last := strings.TrimPrefix(link[len(owner):], "/")
	if _, ok := parseRID(last); !ok && owner != "offers" {
		return link
	}
	return strings.ToLower(last)
}

// checkAAD accepts an AAD token as the emulator does: no authority signs it, its third part is an account key itself,
// which it returns. See TestAAD of azcosmos.
func (v *verifier) checkAAD(token string) (*keyring.Key, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errAAD
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[2], "="))
	if err != nil {
		return nil, errAAD
	}
	key := v.ring.Now().Find(string(text))
	if key == nil {
		return nil, errAAD
	}
	var claims struct {
		NotBefore int64 `json:"nbf"`
		Expires   int64 `json:"exp"`
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(body, &claims) != nil {
		return nil, errAAD
	}
	now := clock.Wall()
	from, to := time.Unix(claims.NotBefore, 0), time.Unix(claims.Expires, 0)
	if now.Add(maxSkew).Before(from) || !now.Before(to) {
		return nil, expired(from, to, now)
	}
	return key, nil
}

var errAAD = gatewayFault(fault.Unauthorized,
	"The AAD token is not valid here. Like the emulator, mayfly accepts tokens whose third part is the account key.")
