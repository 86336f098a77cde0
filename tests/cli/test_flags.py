"""Every flag with every command: the command's help, or that of words of other tools, lists it, or the command rejects it."""
import concurrent.futures
import re
import unittest

from project import TRIB, ProjectTest, run

DUMPS = ["--dump-ast", "--dump-types", "--dump-program", "--dump-ir", "--dump-loops", "--dump-llvm", "--dump-asm", "--dump-quantized"]  # the help names --dump-tokens and --dump-code, between them the others
VALUES = {"N": "1", "R": "1e-4", "A": "0", "[N]": None, "LOAD": "1.5", "LEVEL": "1", "LIST": "library", "WHEN": "auto", "FORMAT": "json", "STAGE": "lex", "X=FILE": "x=x.npy", "Y=FILE": "y=y.npy", "MS": "5"}


class Flags(ProjectTest):
    def setUp(self):
        super().setUp()
        self.commands = re.findall(r"^  ([a-z]+) +\S", self.trib("--help").stdout, re.M)
        self.targets = [[c] for c in self.commands]
        self.flags = {}  # its name: a value it takes, or None
        for command in self.commands:
            text = self.trib(command, "--help").stdout
            actions = text.split("\n\n")[1] if text.count("\n\n") > 1 else ""
            self.targets += [[command, a] for a in re.findall(r"^  ([a-z]+) ", actions, re.M)]
            for name, takes in re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)(?: (\S+))?  ", text, re.M):
                self.flags[name] = VALUES.get(takes, "x") if takes else None
        self.flags.update(dict.fromkeys(DUMPS))
        words = re.findall(r"^  (--.*)   \(flag of (.*)\)\n      as `", self.trib("help", "foreign").stdout, re.M)
        self.foreign = {(command, flag) for flags, commands in words for flag in flags.split() for command in commands.split()}

    def test_all_commands_and_flags_are_found(self):
        self.assertGreaterEqual(len(self.commands), 20)
        self.assertGreaterEqual(len(self.flags), 50)
        self.assertIn(["cache", "clear"], self.targets)
        self.assertIn(["config", "set"], self.targets)

    def ask(self, target, name):
        value = self.flags[name]
        return run([TRIB, *target, name, *([value] if value else []), "--help"], self.dir, ok=False, env=self.env)

    def judge(self, target, name):
        """Returns an error for that pair, or None."""
        done = self.ask(target, name)
        listed = any(re.search(rf"(^|\s){f}(\s|$)", done.stdout) for f in ([name] if name not in DUMPS else ["--dump-tokens"]))
        words = "trib " + " ".join(target)
        if done.returncode == 0 and (listed or name == "--version" or (target[0], name) in self.foreign):
            return None
        if done.returncode == 2 and f"`trib {target[0]}" in done.stderr and name in done.stderr:
            return None
        return f"{words} {name}: {done.returncode} {done.stdout[:80]}{done.stderr[:200]}"

    def test_each_flag_works_or_is_refused(self):
        """A flag that a command does not know never reaches it."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            pairs = [(t, f) for t in self.targets for f in self.flags]
            wrong = [w for w in pool.map(lambda p: self.judge(*p), pairs) if w]
        self.assertEqual(wrong, [])

    def test_a_flag_of_another_action_changes_nothing(self):
        for words in (["cache", "clear", "--days=3"], ["cache", "--days", "3", "clear"], ["cache", "clear", "--size=1GiB"], ["cache", "stats", "--repair"], ["config", "set", "cache.dir", "x", "--format=json"]):
            done = self.fails(*words, code=2)
            self.assertRegex(done, r"`trib (cache|config) (clear|stats|set)` has no flag `--")
        self.assertIn("`trib cache prune`", self.fails("cache", "clear", "--days=3", code=2))
        self.assertIn("`--diff` only with `--fix`", self.fails("check", "--diff", code=2))
        self.assertIn("`--main` only without `--threads`", self.fails("run", "--main", "--threads=3", code=2))

    def test_no_operand_is_ignored(self):
        for words in (["clean", "x"], ["devices", "x"], ["lsp", "x"], ["cache", "clear", "x"], ["config", "list", "x"], ["new", "a", "b"], ["graph", "a", "b"]):
            self.fails(*words, code=2)


if __name__ == "__main__":
    unittest.main()
