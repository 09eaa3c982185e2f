# Installs the prebuilt agent in an image: see packages/README.md. The project's own CI does not test this recipe.
#
# The tarballs of packages/build are in files/ next to this file.
SUMMARY = "The open payment-terminal agent for embedded Linux"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE-MIT;md5=a465eca5e7c7aec88812ba05d1aa40ff"

ARCHITECTURE:arm = "armhf"
ARCHITECTURE:aarch64 = "arm64"
ARCHITECTURE:x86-64 = "amd64"
COMPATIBLE_HOST = "(arm|aarch64|x86_64).*-linux"
# 32-bit ARM: hard floats and ARMv7.
COMPATIBLE_HOST:arm = "${@bb.utils.contains('TUNE_FEATURES', 'callconvention-hard', '.*', 'null', d)}"
COMPATIBLE_HOST:libc-musl = "null"

SRC_URI = "file://pos-agent-${PV}-${ARCHITECTURE}.tar.gz"
S = "${WORKDIR}/pos-agent-${PV}-${ARCHITECTURE}"

inherit bin_package systemd useradd

REQUIRED_DISTRO_FEATURES = "systemd"
SYSTEMD_SERVICE:${PN} = "pos-agent.service pos-agent.socket pos-front.service pos-first-boot.socket pos-front-first-boot.service"
USERADD_PACKAGES = "${PN}"
USERADD_PARAM:${PN} = "--system --no-create-home --shell /sbin/nologin --user-group pos-agent; \
    --system --no-create-home --shell /sbin/nologin --user-group pos-front"

do_install() {
    DESTDIR=${D} ${S}/install.sh --prefix ${prefix} --systemd
}

FILES:${PN} += "${datadir}/pos-agent ${nonarch_libdir}/systemd ${nonarch_libdir}/sysusers.d ${nonarch_libdir}/tmpfiles.d ${nonarch_libdir}/udev"
RDEPENDS:${PN} = "glibc"
# The agent is stripped already.
INSANE_SKIP:${PN} = "already-stripped"
