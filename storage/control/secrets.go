package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// SecretInfo is what may be told of a secret.
type SecretInfo struct {
	Name    string
	Owner   string // whose it is; empty: the operator's
	Kind    credentials.Kind
	Bounds  credentials.Bounds
	Origin  credentials.Origin // where it comes from; zero if it is stored
	Key     string             // the id of the key that it is encrypted under
	Created time.Time
	Changed time.Time

	Unreadable bool // with the key file as it is; its origin is not known then
}

// SecretInUseError means that URDs refer to a secret.
type SecretInUseError struct {
	Name string
	URDs []string // their ids
}

func (e *SecretInUseError) Error() string {
	named, more := e.URDs, ""
	if len(named) > 10 {
		named, more = named[:10], fmt.Sprintf(" and %d more", len(named)-10)
	}
	return fmt.Sprintf("secret %s is that of URDs %s%s: change or remove these first", e.Name, strings.Join(named, ", "), more)
}

var _ credentials.Source = (*Store)(nil)

// SetSecret stores a secret under a name, in place of one that has it; of one that comes from elsewhere, where that is.
// It makes the key file if that is not there, unless there are secrets, whose key it would have to be.
// Whose it is stays; a new one is the operator's.
func (s *Store) SetSecret(ctx context.Context, name string, secret credentials.Secret) error {
	return s.setSecret(ctx, name, secret, func(*sql.Tx) error { return nil }, "")
}

// setSecret sets a secret if may allows it, in the same transaction. One that is new is an owner's.
func (s *Store) setSecret(ctx context.Context, name string, secret credentials.Secret, may func(*sql.Tx) error, owner string) error {
	if name == "" || len(name) > 256 || strings.ContainsAny(name, " \t\r\n") {
		return fmt.Errorf("set secret %q: a name has 1 to 256 characters, and no white space", name)
	}
	if secret.Kind() == "" {
		return fmt.Errorf("set secret %s: it is empty", name)
	}
	if err := secret.Origin().Check(); err != nil {
		return fmt.Errorf("set secret %s: %w", name, err)
	}
	defer s.changedSecret(name)
	return s.write(ctx, allSecrets, "set secret "+name, func(tx *sql.Tx) error {
		if err := may(tx); err != nil {
			return err
		}
		keys, err := s.keys(ctx, tx)
		if err != nil {
			return err
		}
		if err := forgetSession(ctx, tx, name); err != nil {
			return err
		}
		if err := s.countSecrets(ctx, tx); err != nil {
			return err
		}
		err = seal(ctx, tx, keys[0], name, secret, time.Now())
		if err == nil && owner != "" {
			_, err = tx.ExecContext(ctx, "UPDATE secret SET owner = ? WHERE name = ?", owner, name)
		}
		return err
	})
}

// keys reads the key file, or makes the first.
func (s *Store) keys(ctx context.Context, tx *sql.Tx) ([]secretKey, error) {
	keys, err := readKeys(s.keyFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	var encrypted int
	if err := tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM secret) + (SELECT count(*) FROM channel)").Scan(&encrypted); err != nil {
		return nil, err
	}
	if encrypted > 0 {
		return nil, fmt.Errorf("%d secrets and addresses are encrypted, and %w: restore it from where you keep it, or remove them", encrypted, err)
	}
	k, err := newKey()
	if err != nil {
		return nil, err
	}
	return []secretKey{k}, writeKeys(s.keyFile, k)
}

// seal stores a secret. Its name, kind and bounds are bound to what is encrypted, so that one row is never
// taken for another, nor a secret sent where it was not meant for. Its origin is encrypted itself: who can write the
// database alone, without the key, cannot have a command run.
func seal(ctx context.Context, tx *sql.Tx, k secretKey, name string, secret credentials.Secret, now time.Time) error {
	plain, err := plainSecret(secret)
	if err != nil {
		return err
	}
	sealed, err := k.seal(plain, boundTo(name, secret.Kind(), secret.Bounds()))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO secret (name, kind, key, sealed, created, changed, bounds) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
		ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, key = excluded.key, sealed = excluded.sealed, changed = excluded.changed, bounds = excluded.bounds`,
		name, string(secret.Kind()), k.id, sealed, nanos.Of(now), boundsText(secret.Bounds()))
	return err
}

// boundTo has no bounds where there are none, as in stores of before there were any.
func boundTo(name string, kind credentials.Kind, b credentials.Bounds) string {
	all := "webrace secret\x00" + string(kind) + "\x00" + name
	if text := boundsText(b); text != "" {
		all += "\x00" + text
	}
	return all
}

// boundsText is how bounds are stored: the hosts, and before them whether plain http is allowed, and before that
// whether models are.
func boundsText(b credentials.Bounds) string {
	words := b.Hosts
	if b.Insecure {
		words = append([]string{plainHTTP}, words...)
	}
	if b.Models {
		words = append([]string{toModels}, words...)
	}
	return strings.Join(words, " ")
}

// Neither is a host, because of its slashes.
const (
	plainHTTP = "http://"
	toModels  = "models/"
)

func parseBounds(text string) (b credentials.Bounds) {
	b.Hosts = strings.Fields(text)
	if len(b.Hosts) > 0 && b.Hosts[0] == toModels {
		b.Hosts, b.Models = b.Hosts[1:], true
	}
	if len(b.Hosts) > 0 && b.Hosts[0] == plainHTTP {
		b.Hosts, b.Insecure = b.Hosts[1:], true
	}
	return b
}

// sealedSecret is a secret as it is stored.
type sealedSecret struct {
	SecretInfo
	sealed []byte
}

const secretColumns = "name, kind, key, created, changed, sealed, bounds, owner"

func scanSecret(r *sql.Rows) (s sealedSecret, err error) {
	var created, changed int64
	var bounds string
	err = r.Scan(&s.Name, &s.Kind, &s.Key, &created, &changed, &s.sealed, &bounds, &s.Owner)
	s.Created, s.Changed, s.Bounds = nanos.Time(created), nanos.Time(changed), parseBounds(bounds)
	return s, err
}

func (s sealedSecret) open(keys []secretKey) (credentials.Secret, error) {
	plain, err := openUnder(keys, s.Key, s.sealed, boundTo(s.Name, s.Kind, s.Bounds))
	if err != nil {
		return credentials.Secret{}, err
	}
	secret, err := parsePlainSecret(s.Kind, plain)
	return secret.Within(s.Bounds), err
}

// SecretVersion counts how often the secret of a name was set and removed, and found to be another where it comes from,
// since the store was opened: who keeps it in memory reads it again when that has changed.
func (s *Store) SecretVersion(name string) uint64 {
	s.follow()
	return s.secretVersions.of(name)
}

// versions counts the changes of what has a name.
type versions struct {
	mu     sync.Mutex
	byName map[string]uint64
	ofAll  uint64 // changes of which it is not known what they changed
}

func (v *versions) of(name string) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ofAll + v.byName[name]
}

func (v *versions) nextOfAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ofAll++
}

func (v *versions) next(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byName == nil {
		v.byName = make(map[string]uint64)
	}
	v.byName[name]++
}

// kept returns what is stored under a name, or [ErrNotFound]. A secret that comes from elsewhere has no value.
func (s *Store) kept(ctx context.Context, name string) (credentials.Secret, error) {
	doing := "read secret " + name
	sealed, err := one(rows(ctx, s, doing, scanSecret, "SELECT "+secretColumns+" FROM secret WHERE name = ?", name), "secret "+name)
	if err != nil {
		return credentials.Secret{}, err
	}
	keys, err := readKeys(s.keyFile)
	if err != nil {
		return credentials.Secret{}, fmt.Errorf("%s: %w", doing, err)
	}
	secret, err := sealed.open(keys)
	if err != nil {
		return credentials.Secret{}, fmt.Errorf("%s: %w", doing, err)
	}
	return secret, nil
}

// Secrets returns what may be told of all secrets, by name.
func (s *Store) Secrets(ctx context.Context) iter.Seq2[SecretInfo, error] {
	keys := sync.OnceValues(func() ([]secretKey, error) { return readKeys(s.keyFile) })
	return rows(ctx, s, "list secrets", func(r *sql.Rows) (SecretInfo, error) {
		sealed, err := scanSecret(r)
		if err != nil {
			return SecretInfo{}, err
		}
		var secret credentials.Secret
		known, wrong := keys()
		if wrong == nil {
			secret, wrong = sealed.open(known)
		}
		sealed.Origin, sealed.Unreadable = secret.Origin(), wrong != nil // which fsck explains
		return sealed.SecretInfo, nil
	}, "SELECT "+secretColumns+" FROM secret WHERE kind <> ? ORDER BY name", string(credentials.KindSession))
}

// UnknownSecrets returns the names that URDs refer to and that no secret has, each once and sorted.
func (s *Store) UnknownSecrets(ctx context.Context, urds []*xmlschema.URD) (names []string, err error) {
	known := make(map[string]bool)
	for info, err := range s.Secrets(ctx) {
		if err != nil {
			return nil, err
		}
		known[info.Name] = true
	}
	for _, u := range urds {
		for _, name := range u.Secrets() {
			if !known[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// DeleteSecret removes a secret, or returns [ErrNotFound]. While URDs refer to it that is a
// [SecretInUseError], unless it is forced.
func (s *Store) DeleteSecret(ctx context.Context, name string, force bool) error {
	doing := "delete secret " + name
	if _, err := one(rows(ctx, s, doing, scanSecret, "SELECT "+secretColumns+" FROM secret WHERE name = ?", name), doing); err != nil {
		return err
	}
	if !force {
		var users []string
		for u, err := range s.Query(ctx, "/urd[uri/@secret or request]") {
			if err != nil {
				return err
			}
			if slices.Contains(u.Secrets(), name) {
				users = append(users, u.ID)
			}
		}
		if len(users) > 0 {
			return &SecretInUseError{Name: name, URDs: users}
		}
	}
	return s.deleteSecret(ctx, name, func(*sql.Tx) error { return nil })
}

// deleteSecret removes a secret if may allows it, in the same transaction, with what goes with it.
func (s *Store) deleteSecret(ctx context.Context, name string, may func(*sql.Tx) error) error {
	defer s.changedSecret(name)
	return s.write(ctx, allSecrets, "delete secret "+name, func(tx *sql.Tx) error {
		if err := may(tx); err != nil {
			return err
		}
		if err := forgetSession(ctx, tx, name); err != nil {
			return err
		}
		if err := s.countSecrets(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM secret_grant WHERE name = ?", name); err != nil {
			return err
		}
		return mustAffect(tx.ExecContext(ctx, "DELETE FROM secret WHERE name = ?", name))
	})
}

// RotateKey makes a new key, encrypts every secret and the address of every channel under it, forgets the old one, and
// returns how many secrets there are. Wherever it is interrupted, all of them can be read.
func (s *Store) RotateKey(ctx context.Context) (n int, err error) {
	if s.writer == nil {
		return 0, s.explain("rotate the key of secrets", errReadOnly)
	}
	s.rotating.Lock() // a second one would forget the key of the first, or the first that of the second
	defer s.rotating.Unlock()
	next, err := newKey()
	if err != nil {
		return 0, fmt.Errorf("rotate the key of secrets: %w", err)
	}
	err = s.write(ctx, allSecrets, "rotate the key of secrets", func(tx *sql.Tx) error {
		keys, err := s.keys(ctx, tx)
		if err != nil {
			return err
		}
		if keys[0].id != next.id { // or the first attempt has written it
			keys = append([]secretKey{next}, keys...)
			if err := writeKeys(s.keyFile, keys...); err != nil {
				return err
			}
		}
		n, err = reseal(ctx, tx, keys)
		if err == nil {
			err = resealChannels(ctx, tx, keys)
		}
		if err == nil {
			err = s.countSecrets(ctx, tx)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, writeKeys(s.keyFile, next)
}

// reseal encrypts every secret under the first key.
func reseal(ctx context.Context, tx *sql.Tx, keys []secretKey) (n int, err error) {
	found, err := tx.QueryContext(ctx, "SELECT "+secretColumns+" FROM secret")
	if err != nil {
		return 0, err
	}
	defer found.Close()
	var all []sealedSecret
	for found.Next() {
		sealed, err := scanSecret(found)
		if err != nil {
			return 0, err
		}
		all = append(all, sealed)
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		return 0, err
	}
	for _, sealed := range all {
		secret, err := sealed.open(keys)
		if err == nil {
			err = seal(ctx, tx, keys[0], sealed.Name, secret, sealed.Changed)
		}
		if err != nil {
			return 0, fmt.Errorf("secret %s: %w", sealed.Name, err)
		}
	}
	return len(slices.DeleteFunc(all, func(s sealedSecret) bool { return s.Kind == credentials.KindSession })), nil
}
