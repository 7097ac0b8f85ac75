package command

func init() {
	register("ping", command{run: ping, help: "Answers that the server is alive.", open: true, txn: true})
}

func ping(*request, *answer) error { return nil }
