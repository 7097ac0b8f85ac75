package command

// getCmdLineOpts shows the settings under MongoDB's names, and not the arguments of the process, because the account
// key may be one of them.
func getCmdLineOpts(r *request, a *answer) error {
	a.Strings("argv", []string{"mayfly"})
	a.Object("parsed")
	if name := r.s.o.ReplSet; name != "" {
		a.Object("replication")
		a.String("replSet", name)
		a.Close()
	}
	a.Object("security")
	a.String("authorization", map[bool]string{true: "enabled", false: "disabled"}[r.s.o.Auth])
	a.Close()
	if r.s.o.TLS {
		a.Object("net")
		a.Object("tls")
		a.String("mode", "requireTLS")
		a.Close()
		a.Close()
	}
	a.Close()
	return nil
}
