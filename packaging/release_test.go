// Package packaging has only tests: what is published is built as a release builds it, and used as a user would, from an empty folder.
package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/nettest"
)

const version = "0.1.0"

// TestRelease builds a release of this tree twice, in different folders, compares the artefacts, and uses each that this machine can
// run. It builds for this platform only; make releasetest has it build for all.
func TestRelease(t *testing.T) {
	trees := []string{copyTree(t), copyTree(t)} // both before a build, which takes minutes
	first, second := release(t, trees[0]), release(t, trees[1])
	sums := read(t, filepath.Join(first, "SHA256SUMS"))
	if again := read(t, filepath.Join(second, "SHA256SUMS")); again != sums {
		t.Errorf("two builds differ:\n%s\nand\n%s", sums, again)
	}
	run(t, first, nil, "sha256sum", "--check", "--quiet", "SHA256SUMS")

	for _, artefact := range []struct {
		name string
		try  func(t *testing.T, dist string)
	}{
		{"the archive's program runs", tryArchive},
		{"the archive has no path of the machine", tryPaths},
		{"the bill of materials names what is linked", tryBillOfMaterials},
		{"the .deb installs, serves and is removed", tryDeb},
		{"the wheel guards and has the command", tryWheel},
		{"the packages for Node guard and have the command", tryNode},
		{"the plugins have the version and the hooks", tryPlugins},
		{"the image is built and its program runs", tryImage},
	} {
		t.Run(artefact.name, func(t *testing.T) { artefact.try(t, first) })
	}
}

// copyTree returns a folder with a copy of this tree, as of a commit that was checked out there.
func copyTree(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	// Other suites may remove files of theirs while tar reads.
	run(t, root, nil, "bash", "-c", `git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | tar --create --ignore-failed-read --null --files-from - | tar --extract --directory "$0"`, copied)
	// The environments of Python and Node are made once for all copies.
	run(t, root, nil, "scripts/node-env", "sdk/typescript")
	if err := os.Symlink(filepath.Join(root, "sdk/typescript/node_modules"), filepath.Join(copied, "sdk/typescript/node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, ".cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, ".cache"), filepath.Join(copied, ".cache")); err != nil {
		t.Fatal(err)
	}
	return copied
}

// release builds the tree in a folder, and returns its dist.
func release(t *testing.T, tree string) string {
	t.Helper()
	args := []string{host()}
	if os.Getenv("UNLOOP_RELEASE_PLATFORMS") == "all" {
		args = nil
	}
	began := time.Now()
	run(t, tree, []string{"UNLOOP_RELEASE_VERSION=" + version, "SOURCE_DATE_EPOCH=1760000000"}, "scripts/release", args...)
	t.Logf("built in %s", time.Since(began).Round(time.Second))
	return filepath.Join(tree, "dist")
}

func host() string { return runtime.GOOS + "/" + runtime.GOARCH }

func tryArchive(t *testing.T, dist string) {
	folder := t.TempDir()
	run(t, folder, nil, "tar", "-xzf", filepath.Join(dist, "unloop_"+version+"_linux_"+runtime.GOARCH+".tar.gz"))
	said := run(t, folder, []string{"PATH=", "HOME="}, "./unloop", "version")
	if want := "unloop v" + version + " "; !strings.HasPrefix(said, want) {
		t.Errorf("the output is %q, want %q…", said, want)
	}
	program, err := elf.Open(filepath.Join(folder, "unloop"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close() // only read
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("it needs the libraries %q (%v)", libraries, err)
	}
	for _, name := range []string{"LICENSE", "THIRD_PARTY_NOTICES.txt"} {
		if read(t, filepath.Join(folder, name)) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

func tryBillOfMaterials(t *testing.T, dist string) {
	var bill struct {
		SPDXVersion string `json:"spdxVersion"`
		Packages    []struct {
			Name, VersionInfo string
		} `json:"packages"`
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dist, "unloop_"+version+"_linux_"+runtime.GOARCH+".spdx.json"))), &bill); err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	for _, p := range bill.Packages {
		named[p.Name] = p.VersionInfo != ""
	}
	for _, name := range []string{"github.com/unloop-ai/unloop", "stdlib", "modernc.org/sqlite", "github.com/jackc/pgx/v5", "svelte"} {
		if !named[name] {
			t.Errorf("%s has no name or version in it", name)
		}
	}
}

func tryDeb(t *testing.T, dist string) {
	root := t.TempDir()
	for _, folder := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) {
		run(t, root, nil, "dpkg", append([]string{"--root=" + root, "--force-not-root", "--log=" + filepath.Join(root, "log")}, args...)...)
	}
	dpkg("--install", filepath.Join(dist, "unloop_"+version+"_linux_"+runtime.GOARCH+".deb"))
	program := filepath.Join(root, "usr/bin/unloop")
	unit := read(t, filepath.Join(root, "usr/lib/systemd/system/unloop.service"))
	if !strings.Contains(unit, "\nExecStart=/usr/bin/unloop serve\n") || !strings.Contains(unit, "\nDynamicUser=yes\n") {
		t.Errorf("the unit is %s", unit)
	}
	run(t, root, nil, program, "config", "check", "--config", filepath.Join(root, "etc/unloop/unloop.yaml"))
	serve(t, root, program)
	dpkg("--purge", "unloop")
	for _, path := range []string{program, filepath.Join(root, "etc/unloop/unloop.yaml")} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

// serve starts the program as a server, asks whether it is well, and ends it.
func serve(t *testing.T, folder, program string) {
	t.Helper()
	addr := nettest.FreeAddress(t)
	server := exec.Command(program, "serve", "--addr", addr, "--grpc-addr", "off", "--db", filepath.Join(folder, "unloop.db"))
	server.Dir = folder
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints when it is ready
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // the rest of the greeting
	run(t, folder, nil, program, "doctor", "--quick", "--endpoint", "http://"+addr)
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
}

func tryPlugins(t *testing.T, dist string) {
	for agent, manifest := range map[string]string{"claude-code": ".claude-plugin/plugin.json", "gemini-cli": "gemini-extension.json"} {
		folder := t.TempDir()
		run(t, folder, nil, "tar", "-xzf", filepath.Join(dist, "unloop-"+agent+"_"+version+".tar.gz"))
		if said := read(t, filepath.Join(folder, manifest)); !strings.Contains(said, `"version": "`+version+`"`) {
			t.Errorf("the plugin of %s says %s", agent, said)
		}
		if read(t, filepath.Join(folder, "hooks/hooks.json")) != read(t, filepath.Join("../plugins", agent, "hooks/hooks.json")) {
			t.Errorf("the plugin of %s has other hooks", agent)
		}
	}
}

const guarded = `
import unloop
search = unloop.Guard().tool(lambda: {"hits": []}, name="search")
print([bool(search().get("_loop_guard")) for _ in range(4)])
`

func tryWheel(t *testing.T, dist string) {
	wheels, err := filepath.Glob(filepath.Join(dist, "unloop-*manylinux*"+map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]+"*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels %q (%v), want one", wheels, err)
	}
	folder := t.TempDir()
	run(t, folder, nil, "python3", "-m", "venv", "env")
	run(t, folder, nil, "env/bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheels[0])
	bare := []string{"PATH=", "HOME=" + folder}
	if said := run(t, folder, bare, "env/bin/python", "-c", guarded); !strings.Contains(said, "True") {
		t.Errorf("the guard does not nudge: %s", said)
	}
	if said := run(t, folder, bare, "env/bin/unloop", "version"); !strings.HasPrefix(said, "unloop v"+version) {
		t.Errorf("the command prints %s", said)
	}
}

const guardedInNode = `
import { Guard, program } from "@unloop-ai/unloop";
if (!program().includes("node_modules")) throw new Error(program());
const search = new Guard().wrap(async () => ({ hits: [] }), { name: "search" });
for (let n = 0; n < 4; n++) console.log("_loop_guard" in (await search()));
`

func tryNode(t *testing.T, dist string) {
	packages, err := filepath.Glob(filepath.Join(dist, "unloop-ai-unloop-*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	args := []string{"install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"}
	for _, path := range packages {
		name := filepath.Base(path)
		if name == "unloop-ai-unloop-"+version+".tgz" || strings.Contains(name, "-linux-"+cpu+"-") {
			args = append(args, path)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The packages of other platforms are not at hand: npm may leave optional ones out.
	run(t, folder, nil, "npm", args...)
	installed, err := filepath.Glob(filepath.Join(folder, "node_modules", "[^.]*"))
	if err != nil || len(installed) != 1 || filepath.Base(installed[0]) != "@unloop-ai" {
		t.Errorf("npm installs %q (%v), want only @unloop-ai: frameworks are the user's", installed, err)
	}
	if said := run(t, folder, nil, "node_modules/.bin/unloop", "version"); !strings.HasPrefix(said, "unloop v"+version) {
		t.Errorf("the command prints %s", said)
	}
	if said := run(t, folder, nil, "node", "--input-type=module", "-e", guardedInNode); !strings.Contains(said, "true") {
		t.Errorf("the guard does not nudge: %s", said)
	}
}

// tryImage checks that each file that the Dockerfile copies is staged, and builds and runs the image.
func tryImage(t *testing.T, dist string) {
	folder := filepath.Join(dist, "image", "linux_"+runtime.GOARCH)
	for _, line := range strings.Split(read(t, "../Dockerfile"), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "COPY" {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			if strings.HasPrefix(source, "--") {
				continue
			}
			if _, err := os.Stat(filepath.Join(folder, source)); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Fatal("buildah is missing, so the image cannot be built: install buildah")
	}
	storage := t.TempDir()
	dockerfile, err := filepath.Abs("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	buildah := func(args ...string) string {
		all := append([]string{"--storage-driver", "vfs", "--root", storage + "/root", "--runroot", storage + "/run"}, args...)
		return run(t, storage, nil, "buildah", all...)
	}
	buildah("build", "--isolation", "chroot", "--format", "docker", "--file", dockerfile, "--tag", "unloop", folder)
	var described struct {
		Docker struct {
			Config struct {
				User        string
				Healthcheck struct{ Test []string }
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(buildah("inspect", "--type", "image", "unloop")), &described); err != nil {
		t.Fatal(err)
	}
	if c := described.Docker.Config; c.User != "65532:65532" || len(c.Healthcheck.Test) == 0 {
		t.Errorf("user %q, health check %q", c.User, c.Healthcheck.Test)
	}
	container := strings.TrimSpace(buildah("from", "unloop"))
	if said := buildah("run", "--isolation", "chroot", container, "--", "/unloop", "version"); !strings.HasPrefix(said, "unloop v"+version) {
		t.Errorf("the program in the image prints %s", said)
	}
	buildah("rm", container)
}

// tryPaths checks that the archive contains no path of the machine on which it was made.
func tryPaths(t *testing.T, dist string) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dist, "unloop_"+version+"_linux_"+runtime.GOARCH+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // only read
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{root, filepath.Dir(dist)} {
			if bytes.Contains(content, []byte(path)) {
				t.Errorf("%s contains %s", header.Name, path)
			}
		}
		if header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s belongs to %d %q", header.Name, header.Uid, header.Uname)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs a command in a folder, with the environment changed by env, and returns what it prints.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	ctx := t.Context()
	if deadline, limited := t.Deadline(); limited { // ends the command with what it printed, before the tests end without
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-10*time.Second))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 5 * time.Second // what the command started may hold its output open
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		cmd.Path = filepath.Join(folder, name)
	}
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}
