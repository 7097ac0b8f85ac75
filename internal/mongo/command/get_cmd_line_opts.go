package command

// getCmdLineOpts shows the settings under MongoDB's names, and not the arguments of the process, because the account
// key may be one of them.
func getCmdLineOpts(r *request, a *answer) error {
	a.strings("argv", []string{"mayfly"})
	a.object("parsed")
	if name := r.s.o.ReplSet; name != "" {
		a.object("replication")
		a.string("replSet", name)
		a.close()
	}
	a.object("security")
	a.string("authorization", map[bool]string{true: "enabled", false: "disabled"}[r.s.o.Auth])
	a.close()
	if r.s.o.TLS {
		a.object("net")
		a.object("tls")
		a.string("mode", "requireTLS")
		a.close()
		a.close()
	}
	a.close()
	return nil
}
