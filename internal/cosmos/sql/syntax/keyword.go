package syntax

// Keywords. Those of the second group have no meaning in a query, but the service reserves them (Microsoft's public
// language service for this language lists them).
var keywords = map[string]kind{
	"AND": kwAnd, "ARRAY": kwArray, "AS": kwAs, "ASC": kwAsc, "BETWEEN": kwBetween, "BY": kwBy,
	"DESC": kwDesc, "DISTINCT": kwDistinct, "ESCAPE": kwEscape, "EXISTS": kwExists, "FALSE": kwFalse,
	"FROM": kwFrom, "GROUP": kwGroup, "IN": kwIn, "JOIN": kwJoin, "LEFT": kwLeft, "LIKE": kwLike,
	"LIMIT": kwLimit, "NOT": kwNot, "NULL": kwNull, "OFFSET": kwOffset, "OR": kwOr, "ORDER": kwOrder,
	"RIGHT": kwRight, "SELECT": kwSelect, "TOP": kwTop, "TRUE": kwTrue, "UDF": kwUDF,
	"UNDEFINED": kwUndefined, "VALUE": kwValue, "WHERE": kwWhere,

	"CASE": kwReserved, "CAST": kwReserved, "CONVERT": kwReserved, "CROSS": kwReserved, "ELSE": kwReserved,
	"END": kwReserved, "FOR": kwReserved, "HAVING": kwReserved, "INNER": kwReserved, "INSERT": kwReserved,
	"INTO": kwReserved, "IS": kwReserved, "ON": kwReserved, "OUTER": kwReserved, "OVER": kwReserved,
	"SET": kwReserved, "THEN": kwReserved, "UPDATE": kwReserved, "WHEN": kwReserved, "WITH": kwReserved,
}

const longestKeyword = len("UNDEFINED")

// keyword is the kind of a keyword, in any letter case, or word.
func keyword(text string) kind {
	if len(text) < 2 || len(text) > longestKeyword {
		return word
	}
	var upper [longestKeyword]byte
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	if k, ok := keywords[string(upper[:len(text)])]; ok {
		return k
	}
	return word
}

// Reserved reports whether a name is a keyword and therefore not allowed as an alias or container name. After a dot
// and as a member of an object it is allowed.
func Reserved(name string) bool { return keyword(name) != word }

// Plain reports whether a name needs no quotes as an alias.
func Plain(name string) bool { return identifier(name) && !Reserved(name) }

// identifier reports whether a text has the form of a name.
func identifier(s string) bool {
	if s == "" || !letter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
