package control

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// AwayError means that the server of a store does not answer, or does not serve now. What was asked of it has changed
// nothing, and may be asked again later.
type AwayError struct {
	Database string // without a password
	Cause    error
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("the database %s is away: %v", e.Database, e.Cause)
}

func (e *AwayError) Unwrap() error { return e.Cause }

// Away tells who waits for disk space that this is worth waiting for, too.
func (e *AwayError) Away() bool { return true }

var errAway = errors.New("no answer")

// Codes of errors, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeInvalidParameter = "22023"
	codeUntranslatable   = "22P05"
	codeNotInRepertoire  = "22021"
	codeReadOnly         = "25006"
	codeNoPassword       = "28P01"
	codeNoEntry          = "28000"
	codeNoDatabase       = "3D000"
	codeNoSchema         = "3F000"
	codeSerialization    = "40001"
	codeDeadlock         = "40P01"
	codeNoPermission     = "42501"
	codeNoTable          = "42P01"
	codeTooLong          = "54000"
)

// isAway reports whether an error is one that time may mend.
func isAway(err error) bool {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		return slices.ContainsFunc([]string{
			"08",  // connection
			"53",  // resources: connections, memory, disk
			"57P", // shut down, or starting
			codeSerialization, codeDeadlock,
		}, func(class string) bool { return strings.HasPrefix(failure.Code, class) })
	}
	var unconnected *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &unconnected) || errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, errAway},
			func(known error) bool { return errors.Is(err, known) })
}

func isConflict(err error) bool { return hasCode(err, codeSerialization, codeDeadlock) }

func isInFuture(err error) bool { return hasCode(err, codeInvalidParameter) }

func hasCode(err error, codes ...string) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && slices.Contains(codes, failure.Code)
}

// postgresAdvice returns what a person can do about an error of the server, and whether it is one.
func postgresAdvice(err error) (advice string, blamed bool) {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return "", isAway(err) && !errors.As(err, new(*AwayError))
	}
	switch failure.Code {
	case codeNoDatabase:
		advice = " (make it: createdb --encoding UTF8 --template template0 DATABASE)"
	case codeNoPassword, codeNoEntry:
		advice = " (the server does not let this user in: check user and password of the URL, and the server's pg_hba.conf)"
	case codeNoPermission:
		advice = " (the user may not do that: as owner of the database, GRANT CREATE, CONNECT ON DATABASE … TO the user, and, if another made the schema, GRANT ALL ON SCHEMA webrace and ON ALL TABLES IN SCHEMA webrace TO it)"
	case codeReadOnly:
		advice = " (the server is a standby, or read-only: name the primary, or several hosts with ?target_session_attrs=read-write)"
	case codeNoTable, codeNoSchema:
		advice = " (its tables were removed: restore the database from a backup)"
	case codeNotInRepertoire, codeUntranslatable:
		advice = " (PostgreSQL stores no zero bytes, and no text that is not UTF-8)"
	case codeTooLong:
		advice = " (PostgreSQL takes ids and names of up to about 2,700 bytes)"
	}
	return advice, true
}
