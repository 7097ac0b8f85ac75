package rest

import "net/http"

// sendOwner adds the path by name and the RID of the owner of the request's resource or feed: a container owns items
// and scripts, a database owns containers and users, a user owns permissions. Databases, offers and the account have
// no owner. The creation of a container leaves out the RID. SDKs key their sessions by both. Recordings show them for
// databases, containers and items (xo/dbimp: testdata/cosmos), samples of the REST reference for users, permissions
// and scripts (learn.microsoft.com/rest/api/cosmos-db).
func (e *exchange) sendOwner(f *facts) {
	p := &e.path
	switch {
	case e.database == nil || p.count < 3:
		return
	case e.user != nil:
		f.text = appendName(appendName(f.text, "dbs/", e.database.Name), "/users/", e.user.Name)
		f.add(outAltContentPath)
		f.text = rid{database: e.database.ID, user: e.user.Number}.append(f.text)
		f.add(outContentPath)
	case p.count > 4 && e.container != nil:
		f.text = appendName(appendName(f.text, "dbs/", e.database.Name), "/colls/", e.container.State().Name)
		f.add(outAltContentPath)
		f.text = containerRID(e.container).append(f.text)
		f.add(outContentPath)
	case p.count <= 4:
		f.text = appendName(f.text, "dbs/", e.database.Name)
		f.add(outAltContentPath)
		if e.creates() {
			break
		}
		f.text = databaseRID(e.database).append(f.text)
		f.add(outContentPath)
	}
}

// creates reports whether the request creates a container.
func (e *exchange) creates() bool {
	return e.path.count == 3 && e.path.segment[2] == "colls" && e.Method == http.MethodPost && !e.isQuery()
}

// appendName appends before and a name. Characters of the name that a header cannot hold are percent-encoded, as in
// the service.
func appendName(dst []byte, before, name string) []byte {
	dst = append(dst, before...)
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == '%' {
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
