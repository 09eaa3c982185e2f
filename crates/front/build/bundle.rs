//! Joins the modules of a document to one script or two, because each file of its own costs a slow network a round
//! trip. The first script is in the document. The second one is a file, which the first script imports when the first
//! screen is shown.
//!
//! Each module becomes a function that is called once and returns the exports that other modules import. A name in one
//! module is therefore not visible in another. The page uses a few forms of `import` and `export`. Other forms, cycles,
//! and exports that change are errors of the build.

/// The scripts of a document.
#[derive(Debug, Hash)]
pub(crate) struct Bundle {
    pub(crate) first: String,
    /// The second script; empty if the document has none.
    pub(crate) later: String,
}

struct Module {
    name: String,
    /// The statements without `import` and `export`.
    body: String,
    /// The names of the imported modules, each with the names that it must export. No name stands for all exports.
    imports: Vec<(String, Vec<String>)>,
    exports: Vec<String>,
}

/// Joins the modules of a document. Its first script has the module `first` and the imports of it. Its second script
/// has the module `later` and its other imports, and works only with the first script of the same version. `read`
/// returns the text of the module with this name.
pub(crate) fn join(
    first: &str,
    later: Option<&str>,
    read: &dyn Fn(&str) -> Result<String, String>,
    version: &str,
) -> Result<Bundle, String> {
    let mut modules = Vec::new();
    add(first, read, &mut Vec::new(), &mut modules)?;
    let count = modules.len();
    if let Some(later) = later {
        add(later, read, &mut Vec::new(), &mut modules)?;
    }
    let scripts: Vec<String> = modules.iter().map(|module| module.script(&modules, later)).collect();
    let text = scripts[..count].concat();
    let Some(later) = later else {
        return match text.contains("import(") {
            true => Err(format!("{first}.js and its imports must contain no import()")),
            false => Ok(Bundle { first: text, later: String::new() }),
        };
    };
    // `tries` counts the attempts, because some browsers keep a failed import for ever.
    let import = format!("import(`./{later}.js?${{tries}}`)");
    if text.matches(&import).count() != 1 || text.matches("import(").count() != 1 {
        return Err(format!("the first script must contain {import} once, and no other import()"));
    }
    let is_first = |name: &String| modules[..count].iter().any(|module| module.name == *name);
    let imported = modules[count..].iter().flat_map(|module| &module.imports).map(|(name, _)| name);
    let mut shared: Vec<String> = imported.filter(|name| is_first(name)).map(|name| variable(name)).collect();
    shared.sort();
    shared.dedup();
    let shared = shared.join(", ");
    let loaded = format!("import(`/assets/{later}.js?${{tries}}`).then((found) => found.v{version}({{ {shared} }}))");
    let rest = scripts[count..].concat();
    let second = format!("export const v{version} = ({{ {shared} }}) => {{\n{rest}return {};\n}};\n", variable(later));
    Ok(Bundle { first: text.replace(&import, &loaded), later: second })
}

/// Adds a module after the modules that it imports. `path` is the chain of imports that leads to it.
fn add(
    name: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
    path: &mut Vec<String>,
    modules: &mut Vec<Module>,
) -> Result<(), String> {
    if path.iter().any(|before| before == name) {
        return Err(format!("{name}.js imports itself: {} -> {name}", path.join(" -> ")));
    }
    if modules.iter().any(|module| module.name == name) {
        return Ok(());
    }
    let module = Module::of(name, &read(name)?)?;
    path.push(name.to_owned());
    for (from, wanted) in &module.imports {
        add(from, read, path, modules)?;
        let exports = &modules.iter().find(|module| module.name == *from).expect("it was added").exports;
        if let Some(missing) = wanted.iter().find(|name| !exports.contains(name)) {
            return Err(format!("{name}.js: {from}.js does not export {missing}"));
        }
    }
    path.pop();
    modules.push(module);
    Ok(())
}

impl Module {
    fn of(name: &str, text: &str) -> Result<Self, String> {
        let (mut body, mut imports, mut exports) = (String::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            let odd = || format!("{name}.js: the build does not know this form: {line}");
            let is_odd =
                |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(['{', '*', '"', '\'']));
            let line = if let Some(import) = line.strip_prefix("import ") {
                let (what, from) =
                    import.strip_suffix(".js\";").and_then(|it| it.split_once(" from \"./")).ok_or_else(odd)?;
                imports.push((from.to_owned(), imported(what).ok_or_else(odd)?));
                format!("const {} = {};", what.trim_start_matches("* as "), variable(from))
            } else if let Some(export) = line.strip_prefix("export ") {
                exports.push(declared(export).ok_or_else(odd)?.to_owned());
                export.to_owned()
            } else if is_odd("import") || is_odd("export") {
                return Err(odd());
            } else {
                line.to_owned()
            };
            body += &line;
            body.push('\n');
        }
        Ok(Self { name: name.to_owned(), body, imports, exports })
    }

    /// Returns the module as a function. It returns the exports that one of these modules imports, and all exports of
    /// the module `later`, which the first script uses.
    fn script(&self, modules: &[Self], later: Option<&str>) -> String {
        let Self { name, body, exports, .. } = self;
        let imports = || modules.iter().flat_map(|module| &module.imports).filter(|(from, _)| from == name);
        let is_used = |export: &&String| {
            later == Some(name.as_str()) || imports().any(|(_, names)| names.is_empty() || names.contains(*export))
        };
        let returned: Vec<&str> = exports.iter().filter(is_used).map(String::as_str).collect();
        let variable = variable(name);
        format!("const {variable} = (() => {{\n{body}return {{ {} }};\n}})();\n", returned.join(", "))
    }
}

/// Returns the variable of a module. A module's name may have a hyphen, which a variable's must not have.
fn variable(name: &str) -> String {
    format!("${}", name.replace('-', "_"))
}

/// Returns the names in `{ a, b }`; none for `* as a`.
fn imported(what: &str) -> Option<Vec<String>> {
    if let Some(all) = what.strip_prefix("* as ") {
        return is_name(all).then(Vec::new);
    }
    let names = what.strip_prefix("{ ")?.strip_suffix(" }")?.split(", ");
    names.map(|name| is_name(name).then(|| name.to_owned())).collect()
}

/// Returns the name of a declaration whose value cannot change. An exported `let` could change after the import.
fn declared(statement: &str) -> Option<&str> {
    let kinds = ["const ", "function ", "async function ", "class "];
    let name = kinds.iter().find_map(|kind| statement.strip_prefix(kind))?;
    let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?];
    is_name(name).then_some(name)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "import { sum } from \"./sums.js\";\nimport(`./later.js?${tries}`);\n";
    const SUMS: &str = "export const sum = (a, b) => a + b;\nconst own = 1;\n";
    const LATER: &str =
        "import * as sums from \"./sums.js\";\nimport { day } from \"./day.js\";\nexport const later = { day };\n";
    const DAY: &str = "import { sum } from \"./sums.js\";\nexport const own = 2;\n\
                       export async function day() { return sum(own, 1); }\n";

    fn joined(changed: &[(&str, &str)]) -> Result<Bundle, String> {
        let files = [("main", MAIN), ("sums", SUMS), ("later", LATER), ("day", DAY)];
        let read = |name: &str| {
            let found = changed.iter().chain(&files).find(|(file, _)| *file == name);
            found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("{name}.js is missing"))
        };
        join("main", Some("later"), &read, "7")
    }

    #[test]
    fn each_module_is_called_once_after_its_imports_and_the_later_ones_get_those_of_the_first_script() {
        let Bundle { first, later } = joined(&[]).unwrap();
        assert_eq!(
            first,
            "const $sums = (() => {\nconst sum = (a, b) => a + b;\nconst own = 1;\nreturn { sum };\n})();\n\
             const $main = (() => {\nconst { sum } = $sums;\n\
             import(`/assets/later.js?${tries}`).then((found) => found.v7({ $sums }));\nreturn {  };\n})();\n"
        );
        assert_eq!(
            later,
            "export const v7 = ({ $sums }) => {\n\
             const $day = (() => {\nconst { sum } = $sums;\nconst own = 2;\n\
             async function day() { return sum(own, 1); }\nreturn { day };\n})();\n\
             const $later = (() => {\nconst sums = $sums;\nconst { day } = $day;\nconst later = { day };\n\
             return { later };\n})();\nreturn $later;\n};\n"
        );
    }

    #[test]
    fn what_the_build_cannot_join_is_refused() {
        for (name, text, why) in [
            ("sums", "import { day } from \"./day.js\";\nexport const sum = 1;", "imports itself: main -> sums -> day"),
            ("sums", "export let sum = 1;", "does not know this form: export let"),
            ("sums", "export default 1;", "does not know this form"),
            ("sums", "export { sum };", "does not know this form"),
            ("sums", "export const { sum } = one;", "does not know this form"),
            ("sums", "export const other = 1;", "sums.js does not export sum"),
            ("day", "import { sum as add } from \"./sums.js\";", "does not know this form"),
            ("day", "import sum from \"./sums.js\";", "does not know this form"),
            ("day", "import \"./sums.js\";", "does not know this form"),
            ("day", "import {", "does not know this form"),
            ("day", "import{ sum } from \"./sums.js\";", "does not know this form"),
            ("day", "import { one } from \"./none.js\";", "none.js is missing"),
            ("main", "import { sum } from \"./sums.js\";", "must contain import("),
            ("main", "import(`./later.js?${tries}`); import(\"./day.js\");", "no other import()"),
        ] {
            let said = joined(&[(name, text)]).unwrap_err();
            assert!(said.contains(why), "{name}: {text}: {said}");
        }
    }

    #[test]
    fn a_document_may_have_one_script() {
        let read = |name: &str| -> Result<String, String> { Ok(if name == "day" { DAY } else { SUMS }.to_owned()) };
        let Bundle { first, later } = join("day", None, &read, "7").unwrap();
        assert!(first.starts_with("const $sums = ") && first.contains("const $day = "), "{first}");
        assert_eq!(later, "");
        let said = join("main", None, &|_| Ok("import(`./later.js?${tries}`);".to_owned()), "7").unwrap_err();
        assert!(said.contains("no import()"), "{said}");
    }
}
