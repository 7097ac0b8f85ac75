package command

// A command is one entry of the table.
type command struct {
	name       string // by which it is in the table
	run        func(r *request, a *answer) error
	help       string
	fields     map[string]bool // members that it takes beside its own and the generic ones
	open       bool            // needs no authentication
	greets     bool            // may come as OP_QUERY
	test       bool            // only with --mongo-test-commands
	loose      bool            // takes any member
	admin      bool            // only on the database admin
	txn        bool            // may run in a multi-document transaction
	write      bool            // may be retried with a transaction number
	needs      action          // what the client must be allowed; 0 is everything
	waits      bool            // maxTimeMS is not how long it may take but how long it may wait
	deprecated bool            // in the Stable API
	secret     bool            // what it is sent is shown to nobody, and must not be compressed
}

// aliases are the other spellings that MongoDB knows; every other one is an unknown command.
var aliases = map[string]string{
	"ismaster": "isMaster", "buildinfo": "buildInfo", "collstats": "collStats", "datasize": "dataSize", "dbhash": "dbHash", "dbstats": "dbStats",
	"findandmodify": "findAndModify", "mapreduce": "mapReduce",
}

// table has every command. The files of commands add to it when the program starts: one
// that is missing here does not exist.
var table = map[string]command{}

func register(name string, c command) {
	if _, twice := table[name]; twice {
		panic("command: two commands are called " + name)
	}
	c.name = name
	table[name] = c
}
