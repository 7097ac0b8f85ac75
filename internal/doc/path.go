package doc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// MaxPathBytes limits the text of a Path.
const MaxPathBytes = 1023

// A Path is a parsed path of a policy: of a partition key, a unique key or an index.
type Path []Token

// A Token is one step of a Path.
type Token struct {
	Kind TokenKind
	Name string // of a TokenMember
}

// A TokenKind says what a Token leads to.
type TokenKind uint8

// The kinds of tokens. TokenBelow and TokenScalar occur only at the end.
const (
	TokenMember  TokenKind = iota // the member called Name
	TokenElement                  // []: each element of an array
	TokenScalar                   // ?: the scalar that is here
	TokenBelow                    // *: everything here and below
)

var marks = map[string]TokenKind{"[]": TokenElement, "?": TokenScalar, "*": TokenBelow}

// ParsePath parses a path in the syntax of Cosmos DB's policies, such as /a/b,
// /"a b"/c, /a/[]/b/?, or /a/*. A token in single or double quotes is always a name,
// with the escapes of JSON strings; a token without quotes ends at the next slash.
// There is at least one token. Errors are of type *Error.
func ParsePath(text string) (Path, error) {
	if len(text) > MaxPathBytes {
		return nil, refuse("A path may have at most %d bytes.", MaxPathBytes)
	}
	if !utf8.ValidString(text) {
		return nil, refuse("A path must be valid UTF-8.")
	}
	var path Path
	for at := 0; at < len(text) || at == 0; {
		if !strings.HasPrefix(text[at:], "/") {
			return nil, failAt(at, "A slash was expected")
		}
		if n := len(path); n == MaxDepth || n > 0 && path[n-1].Kind >= TokenScalar {
			return nil, failAt(at, "A path may have at most %d tokens, and none behind ? and *, so none may follow",
				MaxDepth)
		}
		token, size, err := parseToken(text, at+1)
		if err != nil {
			return nil, err
		}
		path = append(path, token)
		at += 1 + size
	}
	return path, nil
}

func parseToken(text string, at int) (token Token, size int, err error) {
	rest := text[at:]
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return parseQuoted(text, at)
	}
	if end := strings.IndexByte(rest, '/'); end >= 0 {
		rest = rest[:end]
	}
	if rest == "" || strings.ContainsAny(rest, "\"\x00") {
		return Token{}, 0, failAt(at, "A name was expected")
	}
	if kind, ok := marks[rest]; ok {
		return Token{Kind: kind}, len(rest), nil
	}
	return Token{Name: rest}, len(rest), nil
}

func parseQuoted(text string, at int) (token Token, size int, err error) {
	quote, inside := text[at], text[at+1:]
	end := 0
	for end < len(inside) && inside[end] != quote {
		if inside[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(inside) {
		return Token{}, 0, failAt(at, "No second quote closes the name that begins")
	}
	name, ok := unescape(inside[:end])
	if !ok || strings.IndexByte(name, 0) >= 0 {
		return Token{}, 0, failAt(at, "An escape that JSON does not have, or a NUL, is in the name that begins")
	}
	return Token{Name: name}, end + 2, nil
}

// unescape resolves the escapes of JSON and that of the single quote.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	p := parser{text: []byte(s)}
	for p.at < len(s) {
		switch {
		case s[p.at] != '\\':
			p.out = append(p.out, s[p.at])
			p.at++
		case strings.HasPrefix(s[p.at:], `\'`):
			p.out = append(p.out, '\'')
			p.at += 2
		default:
			if p.escape() != nil {
				return "", false
			}
		}
	}
	return string(p.out), true
}

// Plain reports whether p consists of names only.
func (p Path) Plain() bool {
	return !slices.ContainsFunc(p, func(t Token) bool { return t.Kind != TokenMember })
}

// Lookup returns the value at p, which leads through objects only; undefined if
// there is no value or p is not Plain.
func (p Path) Lookup(d Doc) Value {
	v := Value{Type: bsoncore.TypeEmbeddedDocument, Data: d}
	for _, token := range p {
		if token.Kind != TokenMember || v.Type != bsoncore.TypeEmbeddedDocument {
			return Value{}
		}
		v = Lookup(v.Data, token.Name)
	}
	return v
}

// String is the path as text, which ParsePath parses to p. Names are quoted unless
// they are plain words.
func (p Path) String() string {
	var b []byte
	for _, token := range p {
		b = append(b, '/')
		switch token.Kind {
		case TokenElement:
			b = append(b, "[]"...)
		case TokenScalar:
			b = append(b, '?')
		case TokenBelow:
			b = append(b, '*')
		default:
			b = appendName(b, token.Name)
		}
	}
	return string(b)
}

func appendName(dst []byte, name string) []byte {
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !wordRune(r) }) < 0 {
		return append(dst, name...)
	}
	return AppendJSONString(dst, name)
}

func wordRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
