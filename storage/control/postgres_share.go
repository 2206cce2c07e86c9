package control

import (
	"database/sql"

	"github.com/jackc/pgx/v5"
)

// ParseConfig returns how to connect to the database that a store is on, for what others keep beside the store, and how
// that is named in messages.
func ParseConfig(address string) (config *pgx.ConnConfig, name string, err error) {
	if config, err = parseURL(address); err != nil {
		return nil, "", err
	}
	prepareConnections(config, answerWithin)
	return config, nameOf(config), nil
}

// Pool returns what has up to so many connections, for statements that find rows by keys.
func Pool(config *pgx.ConnConfig, connections int) *sql.DB {
	return pool(newConnector(config, nil, true), connections)
}

func pool(c connector, connections int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleAfter)
	return db
}

// Patient returns how to connect where a long silence is no sign of anything, as for who listens for notifications.
func Patient(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.DialFunc = dialer.DialContext
	return config
}

// AsAway makes an error of a database that time may mend an [AwayError], which is worth waiting for.
func AsAway(name string, err error) error {
	if err != nil && isAway(err) {
		return &AwayError{name, err}
	}
	return err
}

// Advised adds to an error of a server what a person can do about it.
func Advised(err error) string {
	advice, _ := postgresAdvice(err)
	return advice
}
