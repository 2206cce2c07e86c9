package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is what a store has that is kept on PostgreSQL.
type postgres struct {
	config *pgx.ConnConfig

	self      string        // names this store in notifications
	following sync.Once     // begins to follow what other processes write
	telling   sync.Once     // begins to tell them what this one has written
	news      chan struct{} // it has written something
	ended     context.Context
	end       context.CancelFunc
	working   sync.WaitGroup

	marking sync.Mutex
	marks   int     // that there are
	free    []*mark // of them
}

const (
	oldestPostgres = 130_000 // 13
	writers        = 2       // connections; who writes the same waits for its lock anyway
	idleAfter      = time.Minute
	connectWithin  = 5 * time.Second
	answerWithin   = 30 * time.Second // a part of an answer, also of one that waits for the lock of another
)

// CheckURL reports what is wrong with the URL of a database, as it can be seen without a network. It never quotes it.
func CheckURL(address string) error {
	_, err := parseURL(address)
	return err
}

func parseURL(address string) (*pgx.ConnConfig, error) {
	const example = "postgres://USER:PASSWORD@HOST:5432/DATABASE"
	scheme, _, _ := strings.Cut(address, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("a control store is on PostgreSQL, or else in the data directory: it takes a URL such as %s", example)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("it is no URL such as %s: a character in a user or password that means something in a URL is written as its code, / as %%2F, @ as %%40", example)
	}
	if strings.Trim(parsed.Path, "/") == "" && !parsed.Query().Has("dbname") && !parsed.Query().Has("database") {
		return nil, fmt.Errorf("it names no database: %s", example)
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the error itself quotes the URL
			err = cause
		}
		return nil, fmt.Errorf("it cannot be used as the URL of a database: %w", err)
	}
	return config, nil
}

// Redacted returns a URL without what it keeps secret, as it is shown.
func Redacted(address string) string {
	config, err := parseURL(address)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	return nameOf(config)
}

// ErrNoTables means that a database is opened for reading that the store has not been made in.
var ErrNoTables = errors.New("it has no tables yet: they are made when it is first opened to be written, as by webrace-run or webrace-store urd add")

// OpenPostgres opens the store in a database of PostgreSQL, 13 or later, and makes its tables, in the schema webrace,
// if they are not there and may be written. Several processes may have it open. The key of secrets is in a file of this
// machine, which has to be the same on all.
func OpenPostgres(ctx context.Context, address, keyFile string, o Options) (*Store, error) {
	return openPostgres(ctx, address, keyFile, o, answerWithin)
}

func openPostgres(ctx context.Context, address, keyFile string, o Options, answerWithin time.Duration) (*Store, error) {
	config, err := parseURL(address)
	if err != nil {
		return nil, fmt.Errorf("open control store: %w", err)
	}
	prepareConnections(config, answerWithin)
	s := newStore(nameOf(config), keyFile, o)
	s.postgres = &postgres{config: config, self: rand.Text(), news: make(chan struct{}, 1)}
	s.postgres.ended, s.postgres.end = context.WithCancel(context.Background())
	if o.Gather > 0 {
		s.gathering = newGathering(s, o.Gather)
	}
	known := new(texts)
	s.readers = pool(newConnector(config, known, false), s.options.Readers)
	if !o.ReadOnly {
		s.writer = pool(newConnector(config, known, true), writers)
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

// dialer finds out when the other machine is gone while an answer is waited for.
var dialer = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3}}

// prepareConnections lets connections do without what a server, or what pools connections in between, would have to
// keep for them (but see [keepPlans]), and find out in time when nobody answers any more.
func prepareConnections(config *pgx.ConnConfig, answerWithin time.Duration) {
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatient{Conn: conn, within: answerWithin}, nil
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWithin
	}
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
}

// nameOf is how a database is named in messages.
func nameOf(config *pgx.ConnConfig) string {
	host := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	if strings.HasPrefix(config.Host, "/") {
		host = config.Host
	}
	return fmt.Sprintf("postgres://%s@%s/%s", config.User, host, config.Database)
}

// ready makes the tables, unless they are there, and refuses a database that cannot be used. What is found to be as it
// has to be is only read, so that who writes nothing opens no connection to write, which is a process of the server.
func (s *Store) ready(ctx context.Context) error {
	if err := s.fitServer(ctx); err != nil {
		return err
	}
	have, err := s.haveTables(ctx)
	if err == nil && !have {
		err = s.makeTables(ctx)
	}
	if err == nil && s.writer != nil {
		err = s.migrateThere(ctx)
	}
	if err == nil {
		err = s.fitTables(ctx)
	}
	if err == nil && s.writer != nil {
		err = s.fitKey(ctx)
	}
	if err == nil && s.writer != nil {
		err = s.forgetMarks(ctx)
	}
	return err
}

// fitServer refuses a server that the store cannot be on.
func (s *Store) fitServer(ctx context.Context) error {
	var version int
	var encoding, readOnly string
	var standby bool
	err := s.readers.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'),
		current_setting('transaction_read_only'), pg_is_in_recovery()`).Scan(&version, &encoding, &readOnly, &standby)
	switch {
	case err != nil:
		return err
	case version < oldestPostgres:
		return fmt.Errorf("it is PostgreSQL %d, and this program needs 13 or later", version/10_000)
	case encoding != "UTF8":
		return fmt.Errorf("the database is encoded in %s, and this program needs UTF8: createdb --encoding UTF8 --template template0 %s", encoding, s.postgres.config.Database)
	case s.writer != nil && standby:
		return errors.New("the server is a standby, which can only be read: name the primary, or several hosts with ?target_session_attrs=read-write")
	case s.writer != nil && readOnly == "on":
		return errors.New("the database can only be read: ALTER DATABASE … SET default_transaction_read_only = off, or another user")
	}
	return nil
}

// haveTables reports whether the tables are there.
func (s *Store) haveTables(ctx context.Context) (bool, error) {
	var all int
	var counter bool
	err := s.readers.QueryRowContext(ctx, `SELECT count(*), coalesce(bool_or(relname = 'counter'), FALSE)
		FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ?1 AND relkind = 'r'`, schemaName).Scan(&all, &counter)
	switch {
	case err != nil || counter:
		return counter, err
	case all > 0:
		return false, fmt.Errorf("its schema %s has tables of something else: give webrace a database of its own, createdb webrace", schemaName)
	case s.writer == nil:
		return false, ErrNoTables
	}
	return false, nil
}

// makeTables makes the tables in one transaction. Two processes may do so at the same time: one has made them then.
func (s *Store) makeTables(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var schema bool
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ?1)", schemaName).Scan(&schema)
	if err == nil && !schema {
		_, err = tx.ExecContext(ctx, "CREATE SCHEMA "+schemaName)
	}
	if err == nil {
		err = executeAll(ctx, tx, postgresTables)
	}
	if err == nil {
		err = tx.Commit()
	}
	if have, checked := s.haveTables(ctx); err != nil && checked == nil && have {
		return nil
	}
	return err
}

// executeAll executes statements, each of which but the last ends its line.
func executeAll(ctx context.Context, tx *sql.Tx, statements string) error {
	for statement := range strings.SplitSeq(statements, ";\n") {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// migrateThere brings tables that an earlier program has made to the version that this one knows, whole or not at all.
// Of several processes one does so, and the others wait for it.
func (s *Store) migrateThere(ctx context.Context) error {
	if version, err := s.versionThere(ctx); err != nil || postgresMigrations[version] == "" {
		return err
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	err = tx.QueryRowContext(ctx, "SELECT value FROM counter WHERE name = 'version' FOR UPDATE").Scan(&version)
	for ; err == nil && postgresMigrations[version] != ""; version++ {
		if err = executeAll(ctx, tx, postgresMigrations[version]); err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE counter SET value = ? WHERE name = 'version'", version+1)
		}
		if err != nil {
			err = fmt.Errorf("migrate tables from version %d: %w", version, err)
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	return err
}

// versionThere returns the version of the tables.
func (s *Store) versionThere(ctx context.Context) (version int, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT value FROM counter WHERE name = 'version'").Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("its schema %s has a table counter of something else: give webrace a database of its own, createdb webrace", schemaName)
	}
	return version, err
}

// fitTables refuses tables that this program does not know.
func (s *Store) fitTables(ctx context.Context) error {
	version, err := s.versionThere(ctx)
	if err == nil && version != len(migrations) {
		err = fmt.Errorf("it has tables of version %d, and this program knows version %d: use the program that made them, or a newer one", version, len(migrations))
	}
	return err
}

// fitKey refuses a key file that is not the one which the secrets are encrypted under.
func (s *Store) fitKey(ctx context.Context) error {
	for sealed, err := range rows(ctx, s, "read secrets", scanSecret, "SELECT "+secretColumns+" FROM secret ORDER BY changed DESC LIMIT 1") {
		if err != nil {
			return err
		}
		keys, err := readKeys(s.keyFile)
		if err == nil {
			_, err = sealed.open(keys)
		}
		if err != nil {
			return fmt.Errorf("its secrets want the key that they were encrypted under: copy %s from a machine that has it (%w)", s.keyFile, err)
		}
	}
	return nil
}
