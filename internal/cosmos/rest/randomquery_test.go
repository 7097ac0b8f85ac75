package rest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A randomQuery is a random query whose rows show which item they come from.
type randomQuery struct {
	kind  queryKind
	keys  []string // of ORDER BY: paths, with or without DESC
	core  string   // the query without ORDER BY
	order string   // its ORDER BY, "" for none
}

type queryKind uint8

const (
	plain    queryKind = iota // a row for an item: _rid, _etag, and the keys as k0, k1
	joined                    // several for an item
	distinct                  // rows that differ
	grouped                   // a row for a group, whose keys are all that is before "n"
	many                      // values, any number of times
	one                       // one row of aggregates
)

func (r *randomQuery) text() string { return r.core + r.order }

func (m *randomContainer) randomQuery() randomQuery {
	var r randomQuery
	switch n := m.IntN(12); {
	case n < 5:
		r.kind, r.keys = plain, m.sortKeys()
		r.core = "SELECT c._rid, c._etag" + keyItems(r.keys) + " FROM c" + m.where()
	case n < 7:
		r.kind, r.keys = joined, m.sortKeys()
		r.core = "SELECT c._rid, c._etag, t" + keyItems(r.keys) + m.pick(" FROM c JOIN t IN c.tags",
			" FROM c JOIN t IN c.tags", " FROM c JOIN t IN c.tags JOIN l IN t.l",
			" FROM c JOIN (SELECT VALUE x FROM x IN c.tags WHERE x != 1) t", " FROM c JOIN t IN c.n.l") + m.joinWhere()
	case n < 9:
		m.distinct(&r)
	case n == 9:
		r.kind, r.core = many, m.values()
	case n == 10:
		r.kind, r.core = grouped, m.groups()
	default:
		r.kind = one
		r.core = m.pick("SELECT COUNT(c.a) AS n, MIN(c.b) AS low, MAX(c.b) AS high, SUM(c.num) AS total, "+
			"AVG(c.n.x) AS mean, COUNTIF(c.num > 2) AS some",
			"SELECT COUNT(1) AS n, SUM(c.num) AS total, MAX(c.s) AS high", "SELECT COUNT(1) AS n", "SELECT COUNT(c.a) AS n",
			"SELECT SUM(c.b) AS total, COUNT(c.u) AS n, AVG(c.num) AS mean") + " FROM c" +
			m.pick(m.where(), "", " WHERE c.a > "+m.scalar(), " WHERE c.num >= 1")
	}
	if len(r.keys) > 0 && m.IntN(8) > 0 {
		r.order = " ORDER BY " + strings.Join(r.keys, ", ")
	}
	return r
}

// limited adds TOP, or OFFSET and LIMIT, to a query.
func (m *randomContainer) limited(r randomQuery) (query string, offset, limit int) {
	offset, limit = m.IntN(12), m.IntN(20)
	if m.IntN(2) == 0 {
		return fmt.Sprintf("%s OFFSET %d LIMIT %d", r.text(), offset, limit), offset, limit
	}
	begin := "SELECT "
	if strings.HasPrefix(r.core, "SELECT DISTINCT ") {
		begin = "SELECT DISTINCT "
	}
	return begin + fmt.Sprintf("TOP %d ", limit) + strings.TrimPrefix(r.text(), begin), 0, limit
}

func (m *randomContainer) distinct(r *randomQuery) {
	r.kind = distinct
	switch m.IntN(8) {
	case 0, 1:
		path := m.pick("c.a", "c.b", "c.n.x", "c.s")
		r.keys = []string{path + m.pick("", " DESC")}
		r.core = "SELECT DISTINCT VALUE " + path + " FROM c" + m.where()
	case 2:
		r.keys = []string{"c.a" + m.pick("", " DESC")}
		r.core = "SELECT DISTINCT c.a, c.b FROM c" + m.where()
	case 3:
		r.core = "SELECT DISTINCT VALUE {x: c.a, y: c.n} FROM c" + m.where()
	case 4:
		r.core = "SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags" + m.where()
	case 5:
		r.core = "SELECT VALUE x FROM (SELECT DISTINCT VALUE " + m.path() + " FROM c" + m.where() + ") x"
	case 6:
		r.core = "SELECT VALUE x FROM (SELECT c.a, COUNT(1) AS n FROM c" + m.where() + " GROUP BY c.a) x"
	default:
		r.core = "SELECT VALUE y FROM (SELECT VALUE x FROM (SELECT DISTINCT VALUE c.b FROM c" + m.where() + ") x " +
			"WHERE x != null) y"
	}
}

func (m *randomContainer) values() string {
	core := m.pick("SELECT VALUE o FROM o IN c.tags", "SELECT VALUE o FROM c.n o",
		"SELECT o.x, o.l[0] AS l FROM c.n AS o", "SELECT VALUE o FROM o IN c.n.l",
		"SELECT VALUE [o, l] FROM o IN c.tags JOIN l IN o.l", `SELECT VALUE o FROM c["odd []"] o`,
		"SELECT VALUE o FROM (SELECT VALUE c.a FROM c WHERE c.b > 1) o",
		"SELECT VALUE o.y FROM (SELECT c.a, c.b AS y FROM c) o",
		"SELECT o.a, t FROM (SELECT DISTINCT c.a, c.tags FROM c) o JOIN t IN o.tags")
	if m.IntN(4) > 0 {
		core += " WHERE " + m.pick("o", "o.d", "o.x", "o.y", "o.a", `o["*"]`, "o.s") + m.pick(" = ", " > ", " <= ",
			" != ") + m.scalar() +
			m.pick("", " OR o = "+m.constant(), " AND NOT (o.d < "+m.scalar()+")", " AND IS_DEFINED(o.x)")
	}
	return core
}

func (m *randomContainer) groups() string {
	keys := strings.Split(m.pick("c.a", "c.u", "c.s", "c.a|c.b", "c.n", "c.u|c.pk", "c.s|c.num", "c.tags",
		"LENGTH(c.s)|c.u", "{x: c.a, y: c.u}"), "|")
	columns := ""
	for i, key := range keys {
		columns += fmt.Sprintf("%s AS g%d, ", key, i)
	}
	return "SELECT " + columns + "COUNT(1) AS n, SUM(c.num) AS total, AVG(c.num) AS mean" +
		m.pick("", ", MIN(c.b) AS low, MAX(c.a) AS high") + " FROM c" +
		m.pick(m.where(), "", " WHERE c.num >= 1") + " GROUP BY " + strings.Join(keys, ", ")
}

func (m *randomContainer) joinWhere() string {
	if m.IntN(3) > 0 {
		return m.where()
	}
	return " WHERE " + m.pick("t", "t.d") + m.pick(" = ", " > ", " != ") + m.scalar() + m.pick("", " AND "+
		m.predicate(1), " OR "+m.predicate(1))
}

var sortLists = [][]string{
	{"c.a", "c.b"}, {"c.a DESC", "c.b DESC"}, {"c.pk DESC", "c.b"}, {"c.pk", "c.b DESC"}, {"c.a DESC", "c.b",
		"c.n.x"}, {"c.a", "c.b DESC", "c.n.x DESC"},
	{"c.u", "c.a DESC", "c.b"}, {"c.a DESC", "c.b"}, {"c.b DESC", "c.a"}, {"c.b", "c.a DESC"},
}

func (m *randomContainer) sortKeys() []string {
	switch m.IntN(5) {
	case 0, 1:
		return sortLists[m.IntN(len(sortLists))]
	case 2:
		return nil
	}
	return []string{m.pick("c.a", "c.b", "c.n.x", "c.id", "c._ts", "c.pk", "c.u", "c.off", "c.s") + m.pick("", " DESC")}
}

func keyItems(keys []string) (items string) {
	for i, k := range keys {
		items += fmt.Sprintf(", %s AS k%d", strings.TrimSuffix(k, " DESC"), i)
	}
	return items
}

func (m *randomContainer) path() string {
	return m.pick("c.a", "c.a", "c.b", "c.b", "c.n.x", `c["n"]["x"]`, "c.pk", "c.pk", "c.u", "c.n.s", "c.id", "c._ts",
		"c.a.d", "c.off", "c.s", "c.cp", "c.tags[0]",
		"c.tags[1].d", "c.n.l[1].d", "c.n", "c.tags", "c._etag", "c.nix", `c["odd []"]["*"]`, `c["odd []"]["?"]`,
		`c["odd []"][""]`, `c["[]"]`, `c["odd []"]["`+longName+`"]`, "c.at")
}

// constant is a value as a filter has it.
func (m *randomContainer) constant() string {
	switch m.IntN(6) {
	case 0:
		return m.value()
	case 1:
		return m.keyConstant()
	}
	return m.scalar()
}

func (m *randomContainer) keyConstant() string {
	if v := m.keyPart(); v != "" {
		return v
	}
	return "undefined"
}

func (m *randomContainer) stamp() string {
	now := m.clock.Now().Unix()
	return m.pick(fmt.Sprint(now-int64(m.IntN(30))), fmt.Sprint(float64(now)-0.5), `"x"`, "null", "1e300", "-5")
}

func (m *randomContainer) where() string {
	if m.IntN(7) == 0 {
		return ""
	}
	return " WHERE " + m.predicate(m.IntN(4))
}

// predicate is a random filter of some depth.
func (m *randomContainer) predicate(depth int) string {
	if depth > 0 {
		switch m.IntN(8) {
		case 0, 1, 2:
			return "(" + m.predicate(depth-1) + " AND " + m.predicate(depth-1) + ")"
		case 3, 4:
			return "(" + m.predicate(depth-1) + " OR " + m.predicate(depth-1) + ")"
		case 5:
			return "NOT (" + m.predicate(depth-1) + ")"
		}
	}
	p := m.path()
	switch m.IntN(39) {
	case 0:
		return p + m.pick(" IN (", " NOT IN (") + m.constant() + ", " + m.constant() + ", " + m.scalar() + ")"
	case 1, 2:
		return p + m.pick(" BETWEEN ", " BETWEEN ", " NOT BETWEEN ") + m.scalar() + " AND " + m.scalar()
	case 3:
		return "STARTSWITH(" + p + ", " + m.string() + m.pick("", ", false", ", true") + ")"
	case 4:
		return p + m.pick(" LIKE ", " NOT LIKE ") + m.pick(`"a%"`, `"%b"`, `"a_c"`, `"[a]b%"`, `"ab"`,
			`"a!%" ESCAPE "!"`, quoted(longs[m.IntN(len(longs))]+"%"), quoted(longs[2]+"a_"))
	case 5:
		return "ARRAY_CONTAINS(" + m.pick("c.tags", "c.n.l", "c.a") + ", " + m.constant() + m.pick("", ", true",
			", false") + ")"
	case 6:
		return m.pick("ARRAY_CONTAINS_ANY", "ARRAY_CONTAINS_ALL") + "(c.tags, " + m.scalar() + ", " + m.constant() + ")"
	case 7:
		return "ARRAY_CONTAINS([" + m.constant() + ", " + m.scalar() + "], " + p + ")"
	case 8, 9:
		return m.pick("IS_DEFINED", "IS_DEFINED", "IS_NULL", "IS_NUMBER", "IS_STRING", "IS_BOOL", "IS_ARRAY",
			"IS_OBJECT", "IS_PRIMITIVE", "IS_INTEGER", "IS_FINITE_NUMBER") + "(" + p + ")"
	case 10:
		return "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = " + m.constant() + ")"
	case 11:
		return "EXISTS(SELECT VALUE l FROM t IN c.tags JOIN l IN t.l WHERE l = " + m.scalar() + " AND t.d != " +
			m.scalar() + ")"
	case 12:
		return "EXISTS(SELECT VALUE x FROM (SELECT VALUE t.d FROM t IN c.tags) x WHERE x >= " + m.scalar() + ")"
	case 13:
		return "EXISTS(SELECT VALUE t FROM t IN c.tags)"
	case 14:
		return p
	case 15:
		return p + m.pick(" = ", " < ", " != ", " >= ") + m.path()
	case 16:
		return m.scalar() + m.pick(" = ", " < ", " >= ") + p
	case 17, 18, 19:
		return p + m.pick(" = ", " != ") + m.constant()
	case 20:
		return "(" + p + " ?? " + m.scalar() + ") = " + m.scalar()
	case 21:
		return "(" + m.predicate(0) + " ? " + m.predicate(0) + " : " + m.predicate(0) + ")"
	case 22:
		return "STRINGEQUALS(" + p + ", " + m.string() + m.pick("", ", false", ", true") + ")"
	case 23:
		return "c._ts" + m.pick(" = ", " > ", " < ", " >= ", " <= ") + m.stamp()
	case 24, 25:
		return m.pick("c.pk", "c.pk", "c.u", "c.n.s") + " = " + m.keyConstant()
	case 26:
		return "(c.pk = " + m.keyConstant() + " AND c.u = " + m.pick("1", "2", `"x"`, "null") + m.pick("",
			` AND c.n.s = "s"`, " AND c.n.s = null") + ")"
	case 27:
		return "c.id " + m.pick(`= "`, `> "`) + fmt.Sprint(m.IntN(*mazeItems)) + `"`
	case 28:
		return fmt.Sprintf(`c.id IN ("%d","%d",%d)`, m.IntN(*mazeItems), m.IntN(*mazeItems), m.IntN(150))
	case 29:
		return "(SELECT VALUE COUNT(1) FROM t IN c.tags) " + m.pick("=", ">") + " 1"
	case 30:
		return p + m.pick(" > ", " >= ", " < ", " <= ") + m.string()
	case 31:
		return m.pick("c.tags", "c.a", "c.tags[0]", "c.n.l") + m.pick(" = ", " = ", " != ") + "[" +
			m.pick("[]", `{"d":1}`, m.scalar(), m.scalar()) + m.pick("", ","+m.scalar()) + "]"
	case 32:
		return "REGEXMATCH(" + p + ", " + m.pick(`"^a"`, `"^ab"`, `"^ab?"`, `"^ab*c"`, `"^a|b"`, `"^a(b|z)"`,
			`"^z{2}$"`, `"^a."`, `"^abc$"`, `"^ab+"`, quoted("^"+longs[2]), quoted("^"+longs[3])) +
			m.pick("", "", `, "i"`, `, "s"`, `, ""`, `, "m"`) + ")"
	}
	return p + m.pick(" = ", " = ", " != ", " < ", " <= ", " > ", " >= ") + m.scalar()
}

// compare compares two rows by the keys of ORDER BY.
func (r *randomQuery) compare(t testing.TB, x, y string) int {
	a, b := r.values(t, x), r.values(t, y)
	for i := range a {
		if c := access.Compare(a[i], b[i]); c != 0 {
			if strings.HasSuffix(r.keys[i], " DESC") {
				return -c
			}
			return c
		}
	}
	return 0
}

// values are the sort keys of a row.
func (r *randomQuery) values(t testing.TB, row string) []doc.Value {
	v, err := doc.ValueFromJSON([]byte(row))
	must(t, err)
	d, _ := doc.AsDoc(v)
	if r.kind == distinct {
		if !strings.Contains(r.core, "DISTINCT VALUE") {
			v = doc.Lookup(d, "a")
		}
		return []doc.Value{v}
	}
	values := make([]doc.Value, len(r.keys))
	for i := range values {
		values[i] = doc.Lookup(d, fmt.Sprintf("k%d", i))
	}
	return values
}

// source is the version of the item that a row comes from.
func source(row string) (rid, version string) {
	_, rest, _ := strings.Cut(row, `"_rid":"`)
	rid, _, _ = strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(row, `"_etag":"\"`)
	version, _, _ = strings.Cut(rest, `\"`)
	return rid, version
}

// identity is the part of a row that is the same in two answers: all of it, or the key of a group.
func (r *randomQuery) identity(row string) string {
	if r.kind == grouped {
		return row[:strings.LastIndex(row, `"n":`)]
	}
	return row
}
