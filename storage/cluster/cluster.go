package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/internal/pace"
)

const (
	connections = 4 // each is a process of the server
	seenEvery   = 3 * time.Second
	deadAfter   = 10 // seconds
)

// Options of a node; the zero value will do.
type Options struct {
	Place  string // where the node keeps what it has: that of a data directory which this process has locked
	Config string // which configuration it runs, so that nodes of which that differs are told of
	// Address is where others reach the node, as HOST:PORT; empty: they do not.
	Address string
	// Retry is called with what is asked of the database, and may call it again when that was away. Nil does not.
	Retry  func(ctx context.Context, f func() error) error
	Logger *slog.Logger // nil: slog.Default()

	askEvery, lookEvery time.Duration // of tests; 0: as is said there
}

// Cluster is a cluster as one of its nodes knows it.
type Cluster struct {
	Shape
	node    int
	boot    string
	mine    []int
	coming  []Move
	options Options

	name   string
	config *pgx.ConnConfig
	db     *sql.DB

	ended   context.Context
	end     context.CancelFunc
	working sync.WaitGroup
	out     outbox
	news    chan struct{} // others are to be told that something has changed
	turns   chan struct{} // a turn is to be taken soon
	soon    atomic.Bool   // something may have changed in the database
	asked   pace.Pace     // when it was asked last
	noted   time.Time     // when it was noted last what waits for nothing

	mu    sync.Mutex
	links map[place]*attached
}

// Create makes a cluster in a database that has a control store, which has none yet.
func Create(ctx context.Context, address string, s Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	db, _, name, err := open(address)
	if err != nil {
		return err
	}
	defer db.Close()
	err = create(ctx, db, s)
	if hasCode(err, codeTableIsThere, codeNameIsTaken) {
		err = errors.New("there is a cluster in it already")
		if is, failed := shapeOf(ctx, db); failed == nil {
			err = fmt.Errorf("there is a cluster in it already, of %d partitions and %d nodes, which stays as it is", is.Partitions, is.Nodes)
		}
	}
	return explained("make a cluster in", name, err)
}

func open(address string) (*sql.DB, *pgx.ConnConfig, string, error) {
	config, name, err := control.ParseConfig(address)
	if err != nil {
		return nil, nil, "", err
	}
	return control.Pool(config, connections), config, name, nil
}

// explained says of which database an error is, and what to do about it.
func explained(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w%s", what, name, err, control.Advised(err))
}

// Open makes this process a node of the cluster in a database, until it is closed or its process ends.
func Open(ctx context.Context, address string, node int, o Options) (*Cluster, error) {
	if o.Retry == nil {
		o.Retry = func(_ context.Context, f func() error) error { return f() }
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.askEvery, o.lookEvery = cmp.Or(o.askEvery, askEvery), cmp.Or(o.lookEvery, lookEvery)
	c := &Cluster{
		node: node, boot: rand.Text(), options: o, news: make(chan struct{}, 1), turns: make(chan struct{}, 1), links: make(map[place]*attached),
		out: newOutbox(), asked: pace.Pace{Soon: o.askEvery, Later: o.lookEvery},
	}
	c.ended, c.end = context.WithCancel(context.Background())
	var err error
	if c.db, c.config, c.name, err = open(address); err != nil {
		return nil, err
	}
	if err := c.join(ctx); err != nil {
		return nil, errors.Join(explained("join the cluster in", c.name, err), c.db.Close())
	}
	for _, work := range []func(){c.keepSeen, c.sendAll, c.work, c.tell, c.listen} {
		c.working.Go(work)
	}
	return c, nil
}

// join takes the place of the node, and reads which partitions are its.
func (c *Cluster) join(ctx context.Context) (err error) {
	if c.Shape, err = shapeOf(ctx, c.db); err != nil {
		return err
	}
	if c.node >= c.Nodes {
		return fmt.Errorf("node %d: the cluster has %d nodes, from 0 to %d", c.node, c.Nodes, c.Nodes-1)
	}
	if err := addWhatIsNew(ctx, c.db); err != nil {
		return err
	}
	done, err := c.db.ExecContext(ctx, `INSERT INTO webrace.node AS n (i, boot, place, config, seen, address) VALUES ($1, $2, $3, $4, clock_timestamp(), $6)
		ON CONFLICT (i) DO UPDATE SET boot = excluded.boot, place = excluded.place, config = excluded.config, seen = excluded.seen, address = excluded.address
		WHERE n.place = excluded.place OR n.seen < clock_timestamp() - make_interval(secs => $5)`,
		c.node, c.boot, c.options.Place, c.options.Config, deadAfter, c.options.Address)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, c.taken(ctx))
	}
	rows, err := c.db.QueryContext(ctx, `SELECT p FROM webrace.part WHERE node = $1 ORDER BY p`, c.node)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p int
		if err := rows.Scan(&p); err != nil {
			return err
		}
		c.mine = append(c.mine, p)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	c.coming, err = movesOf(ctx, c.db)
	c.coming = slices.DeleteFunc(c.coming, func(m Move) bool { return m.To != c.node })
	return err
}

// taken is the error of a node that another process is.
func (c *Cluster) taken(ctx context.Context) error {
	var place string
	var ago float64
	err := c.db.QueryRowContext(ctx, `SELECT place, extract(epoch FROM clock_timestamp() - seen)::float8 FROM webrace.node WHERE i = $1`, c.node).Scan(&place, &ago)
	if err != nil {
		return err
	}
	return fmt.Errorf("node %d runs already, at %s, where it was seen %.0f s ago: give this one another number (node in [cluster]), or stop that one, "+
		"and it may be this one %d s after it was last seen", c.node, place, ago, deadAfter)
}

// Mine returns the partitions of this node, in order.
func (c *Cluster) Mine() []int { return c.mine }

// Coming returns the partitions that are on their way to this node, and wait to be taken in.
func (c *Cluster) Coming() []Move { return c.coming }

// keepSeen lets others see that this node is there.
func (c *Cluster) keepSeen() {
	tick := time.NewTicker(seenEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.ended.Done():
			return
		}
		done, err := c.db.ExecContext(c.ended, `UPDATE webrace.node SET seen = clock_timestamp() WHERE i = $1 AND boot = $2`, c.node, c.boot)
		if err != nil {
			continue // who waits for the database says so
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			c.options.Logger.Error("another process is this node of the cluster now, with another data directory: stop one of the two", "node", c.node)
		}
	}
}

// Close ends what the node does for others. Nothing that was sent is lost.
func (c *Cluster) Close() error {
	c.end()
	c.working.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), seenEvery)
	defer cancel()
	_, err := c.db.ExecContext(ctx, `UPDATE webrace.node SET seen = '-infinity' WHERE i = $1 AND boot = $2`, c.node, c.boot)
	return errors.Join(err, c.db.Close())
}

// do asks something of the database, and again while that is away, until the node is closed or the context ends.
func (c *Cluster) do(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ended, cancel)()
	attempt := func() error { return control.AsAway(c.name, f(ctx)) }
	err := attempt()
	if errors.As(err, new(*control.AwayError)) && ctx.Err() == nil {
		err = c.options.Retry(ctx, attempt)
	}
	return err
}

// transact is do in a transaction.
func (c *Cluster) transact(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	return c.do(ctx, func(ctx context.Context) error {
		tx, err := c.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}
