package command

func replSetGetConfig(r *request, a *answer) error {
	if err := r.s.noReplication(); err != nil {
		return err
	}
	a.object("config")
	a.string("_id", r.s.o.ReplSet)
	a.int32("version", replicaVersion)
	a.int64("term", r.s.term())
	a.array("members")
	a.object(a.index())
	a.int32("_id", 0)
	a.string("host", r.self())
	a.bool("arbiterOnly", false)
	a.bool("buildIndexes", true)
	a.bool("hidden", false)
	a.double("priority", replicaPriority)
	a.object("tags")
	a.close()
	a.int64("secondaryDelaySecs", 0)
	a.int32("votes", 1)
	a.close()
	a.close()
	a.int64("protocolVersion", 1)
	a.bool("writeConcernMajorityJournalDefault", true)
	a.object("settings")
	a.bool("chainingAllowed", true)
	a.close()
	a.close()
	if r.bool("commitmentStatus", false) {
		a.bool("commitmentStatus", true)
	}
	return nil
}
