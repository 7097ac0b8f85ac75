package command

// listShards lists the one shard. Clients reach it through any of the processes, so its host is the one that the client
// has reached.
// https://www.mongodb.com/docs/v7.0/reference/command/listShards/
func listShards(r *request, a *answer) error {
	if err := r.mongosOnly(); err != nil {
		return err
	}
	a.Array("shards")
	a.Object(a.Index())
	a.String("_id", shardName)
	a.String("host", r.Address())
	a.Int32("state", 1)
	a.Close()
	a.Close()
	return nil
}
