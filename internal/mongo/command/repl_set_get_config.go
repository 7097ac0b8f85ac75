package command

func replSetGetConfig(r *request, a *answer) error {
	if err := r.s.noReplication(); err != nil {
		return err
	}
	a.Object("config")
	a.String("_id", r.s.o.ReplSet)
	a.Int32("version", replicaVersion)
	a.Int64("term", r.s.term())
	a.Array("members")
	a.Object(a.Index())
	a.Int32("_id", 0)
	a.String("host", addressOf(r))
	a.Bool("arbiterOnly", false)
	a.Bool("buildIndexes", true)
	a.Bool("hidden", false)
	a.Double("priority", replicaPriority)
	a.Object("tags")
	a.Close()
	a.Int64("secondaryDelaySecs", 0)
	a.Int32("votes", 1)
	a.Close()
	a.Close()
	a.Int64("protocolVersion", 1)
	a.Bool("writeConcernMajorityJournalDefault", true)
	a.Object("settings")
	a.Bool("chainingAllowed", true)
	a.Close()
	a.Close()
	if r.bool("commitmentStatus", false) {
		a.Bool("commitmentStatus", true)
	}
	return nil
}
